import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { customResourceDefinition, fileName } from '../../../constructs/api/crd.ts';
import { readDocuments } from '../../../constructs/api/document.ts';
import { sentence, type Problem } from '../../../constructs/api/problem.ts';
import type { DatabaseServiceDocument } from '../../../constructs/api/resource.ts';
import { validateResource, validateText } from '../../../constructs/api/validate.ts';
import { newNamespace, sharedCluster, type Cluster } from '../../cluster/index.ts';
import { corpus, namespaceOf, transitions } from './corpus.ts';
import { mutatedDocuments } from './mutations.ts';
import { namesField } from './server-names.ts';
import { Judge, type ServerVerdict } from './server-verdict.ts';
import { patience } from '../../patience.ts';

describe('offline and the real API server give one verdict', () => {
  let cluster: Cluster;
  let judge: Judge;
  let namespace: string;

  before(async () => {
    cluster = await sharedCluster();
    await installDefinition(cluster);
    namespace = await newNamespace(cluster, 'verdict');
    judge = await Judge.of(cluster.kubeconfig);
  });
  after(async () => await judge.close());

  test('kubectl apply takes the committed CRD, on the client side too', async () => {
    const file = join(import.meta.dirname, '../../../crds', fileName);
    const applied = await cluster.kubectlRun(['apply', '--dry-run=server', '-f', file]);
    assert.equal(applied.code, 0, applied.stderr);
  });

  test('on every valid document, and on what is stored of it', async (t) => {
    const files = corpus('valid');
    for (const { name, text } of files) {
      const place = namespaceOf(text, namespace);
      if (place !== namespace) await cluster.kubectlRun(['create', 'namespace', place]);
      const server = await judge.create(text, place);
      const { resource, problems = [] } = validateText(text)[0] ?? {};
      assert.deepEqual(verdicts(problems, server), accepted, name);
      assert.deepEqual(kept(JSON.parse(server.answer)), kept(resource), name);
    }
    t.diagnostic(`${files.length} valid documents`);
  });

  test('on every invalid document, and both name the field', async (t) => {
    const files = corpus('invalid');
    for (const { name, text, field = '', server: expected } of files) {
      const server = await judge.create(text, namespaceOf(text, namespace));
      const problems = validateText(text)[0]?.problems ?? [];
      assert.deepEqual([problems.length > 0, server.isAccepted], [true, false], name);
      assert.ok(
        problems.some((problem) => problem.field === field),
        `${name}: offline does not name ${field}`,
      );
      const isNamed = expected === undefined ? namesField(server.answer, field) : server.answer.includes(expected);
      assert.ok(isNamed, `${name}: the server does not name ${expected ?? field}: ${server.answer}`);
    }
    t.diagnostic(`${files.length} invalid documents`);
  });

  test('on documents that are nearly valid', async (t) => {
    const texts = fc.sample(mutatedDocuments(), { seed: 20261129, numRuns: 500 });
    let count = 0;
    for (const text of texts) {
      const server = await judge.create(text, namespaceOf(text, namespace));
      const problems = validateText(text).flatMap((judged) => judged.problems);
      if (server.isAccepted) count += 1;
      assert.equal(
        problems.length === 0,
        server.isAccepted,
        JSON.stringify({ text, ...verdicts(problems, server) }, null, 2),
      );
    }
    t.diagnostic(`${texts.length} documents, ${count} of them valid`);
  });

  test('on annotations that are as large as they may be, and larger', async () => {
    const minimal = corpus('valid').find(({ name }) => name === 'minimal')?.text ?? '';
    for (const [kib, isValid] of [
      [255, true],
      [257, false],
    ] as const) {
      const text = minimal.replace(
        /^metadata:.*$/m,
        `metadata: {name: orders, annotations: {a: ${'a'.repeat(kib * 1024)}}}`,
      );
      const server = await judge.create(text, namespace);
      assert.deepEqual(
        [validateText(text)[0]?.problems.length === 0, server.isAccepted],
        [isValid, isValid],
        `${kib} KiB`,
      );
    }
  });

  test('on every change of a document', async (t) => {
    const pairs = transitions();
    for (const { name, before, after } of pairs) {
      const place = await newNamespace(cluster, 'transition');
      assert.deepEqual(
        await judge.apply(before.text, place, 'orders', false).then(({ isAccepted }) => isAccepted),
        true,
        name,
      );
      const server = await judge.apply(after.text, place, 'orders', true);
      const [was, is] = [before, after].map(({ text }) => readDocuments(text).documents[0]?.value);
      const problems = validateResource(is, was);
      if (after.field === undefined) {
        assert.deepEqual(verdicts(problems, server), accepted, name);
        continue;
      }
      assert.deepEqual([problems.length > 0, server.isAccepted], [true, false], name);
      assert.ok(
        problems.some(({ field }) => field === after.field),
        `${name}: offline does not name ${after.field}`,
      );
      assert.ok(namesField(server.answer, after.field), `${name}: the server does not name it: ${server.answer}`);
    }
    t.diagnostic(`${pairs.length} changes`);
  });
});

/** What of a stored object came from the document. */
function kept(stored: DatabaseServiceDocument | undefined): unknown {
  const { labels = {}, annotations = {} } = stored?.metadata ?? {};
  return { spec: stored?.spec, labels, annotations };
}

const accepted = { offline: [], server: 'accepted' };

function verdicts(problems: readonly Problem[], server: ServerVerdict): object {
  return { offline: problems.map(sentence), server: server.isAccepted ? 'accepted' : server.answer };
}

async function installDefinition(cluster: Cluster): Promise<void> {
  const crd = JSON.stringify(customResourceDefinition());
  const applied = await cluster.kubectlRun(['apply', '--server-side', '--force-conflicts', '-f', '-'], crd);
  assert.equal(applied.code, 0, applied.stderr);
  const ready = await cluster.kubectlRun(['wait', '--for=condition=Established', patience, '-f', '-'], crd);
  assert.equal(ready.code, 0, ready.stderr);
}
