import assert from 'node:assert/strict';
import test from 'node:test';
import { engines } from '../../../constructs/engine.ts';
import { restartedAtAnnotation } from '../../../constructs/labels.ts';
import { document } from '../../../controller/database/document.ts';
import { memberDigests } from '../../../controller/database/member-digests.ts';
import { resource } from './given.ts';

test('what is remembered of a document is what would be worked out, for each document', () => {
  // GIVEN documents that differ in what the pods are made from, in settings, in a restart, and in nothing of that
  const documents = [
    resource(),
    resource({ version: '16' }),
    resource({ parameters: { work_mem: '8MB' } }),
    resource({}, { annotations: { [restartedAtAnnotation]: '2026-01-01T00:00:00Z' } }),
    resource({ replicas: 2 }),
  ].map(document);
  // WHEN each is asked for twice, in turns
  for (const one of [...documents, ...documents]) {
    // THEN
    const { templateDigest, settingsDigest } = engines[one.spec.engine];
    assert.deepEqual(memberDigests(one), { template: templateDigest(one), settings: settingsDigest(one) });
  }
});
