import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readDocuments } from '../../../constructs/api/document.ts';
import { gitDestinationDefinition } from '../../../constructs/api/git-destination/crd.ts';
import { gitDestinationPlural } from '../../../constructs/api/git-destination/resource.ts';
import { sentence } from '../../../constructs/api/problem.ts';
import { gitDestinationResourceKind as kind } from '../../../constructs/api/resource-kind.ts';
import { apiVersion } from '../../../constructs/api/resource.ts';
import { validateResource } from '../../../constructs/api/validate.ts';
import { sharedCluster } from '../../cluster/index.ts';
import { destinationCorpus } from './corpus.ts';
import { namesField } from './server-names.ts';
import { Judge } from './server-verdict.ts';
import { patience } from '../../patience.ts';

describe('offline and the real API server give one verdict on GitDestinations', () => {
  let judge: Judge;

  before(async () => {
    const cluster = await sharedCluster();
    const crd = JSON.stringify(gitDestinationDefinition());
    const applied = await cluster.kubectlRun(['apply', '--server-side', '--force-conflicts', '-f', '-'], crd);
    assert.equal(applied.code, 0, applied.stderr);
    const ready = await cluster.kubectlRun(['wait', '--for=condition=Established', patience, '-f', '-'], crd);
    assert.equal(ready.code, 0, ready.stderr);
    judge = await Judge.of(cluster.kubeconfig, () => `/apis/${apiVersion}/${gitDestinationPlural}`);
  });
  after(async () => await judge.close());

  test('on every valid document', async () => {
    for (const { name, text } of destinationCorpus('valid')) {
      const server = await judge.create(text, '');
      const problems = validateResource(readDocuments(text).documents[0]?.value, undefined, kind);
      assert.deepEqual([problems.map(sentence), server.isAccepted], [[], true], `${name}: ${server.answer}`);
    }
  });

  test('on every invalid document, and both name the field', async () => {
    for (const { name, text, field = '', server: expected } of destinationCorpus('invalid')) {
      const server = await judge.create(text, '');
      const problems = validateResource(readDocuments(text).documents[0]?.value, undefined, kind);
      assert.deepEqual([problems.length > 0, server.isAccepted], [true, false], name);
      const isNamed = expected === undefined ? namesField(server.answer, field) : server.answer.includes(expected);
      assert.ok(isNamed, `${name}: the server does not name ${expected ?? field}: ${server.answer}`);
    }
  });
});
