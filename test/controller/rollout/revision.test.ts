import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredSpec } from '../../../constructs/api/spec.ts';
import { settle } from '../../../constructs/postgresql/defaults.ts';
import { templateDigest } from '../../../constructs/postgresql/workload.ts';
import { isRevision, revisionDigest, revisionOf, withRevision } from '../../../controller/rollout/revision.ts';
import { pairsOfSpecs } from '../database/valid-specs.ts';

function whole(spec: Readonly<Record<string, unknown>>): StoredSpec {
  return { engine: 'postgresql', version: '17', replicas: 1, storage: { size: '1Gi' }, ...spec };
}

function digest(spec: StoredSpec): string {
  return templateDigest(
    settle({ apiVersion: 'plumbline.dev/v1alpha1', kind: 'DatabaseService', metadata: { name: 'orders' }, spec }),
  );
}

test('the pods of a spec are those of its revision, whatever else is said: nothing that they are made from is left out of it', () => {
  fc.assert(
    fc.property(pairsOfSpecs, ([a, b]) => {
      const revision = revisionOf(whole(b));
      assert(isRevision(revision));
      assert.equal(digest(withRevision(whole(a), revision)), digest(whole(b)));
    }),
    { numRuns: 300 },
  );
});

const from = [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }];
const on = whole({ monitoring: { enabled: true, from } });

test('who may scrape is of no revision, and stays as it is said while another one is in force', () => {
  assert.equal(revisionDigest(revisionOf(on)), revisionDigest(revisionOf(whole({ monitoring: { enabled: true } }))));
  const other = revisionOf(whole({ monitoring: { enabled: true, image: 'registry.example/exporter:1' } }));
  const found = withRevision(on, other).monitoring;
  assert.deepEqual(found, { enabled: true, image: 'registry.example/exporter:1', from });
});

test('monitoring that is off is the same as none, and none is what a revision from before has', () => {
  const off = whole({ monitoring: { enabled: false, from } });
  assert.equal(revisionDigest(revisionOf(off)), revisionDigest(revisionOf(whole({}))));
  assert.equal(withRevision(on, revisionOf(whole({}))).monitoring, undefined);
});
