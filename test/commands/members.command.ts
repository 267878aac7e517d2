import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { environmentFor, existingCluster } from '../cluster/existing-cluster.ts';
import {
  newNamespace,
  plumblineCrd,
  postgresqlImage,
  startCluster,
  whyNoNode,
  type Cluster,
} from '../cluster/index.ts';
import { BorrowedCluster } from '../members/borrowed-cluster.ts';
import { project, run } from './command.ts';

const command = `${project}/test/members/main.ts`;
const reason = whyNoNode();
const skip = reason === undefined ? false : `No node here: ${reason}.`;

async function namesOf(cluster: Cluster): Promise<string> {
  return (await cluster.kubectlRun(['get', 'namespaces,crds', '-o', 'name'])).stdout;
}

test('the tests of members run on no cluster that is not named', async () => {
  for (const [args, code, words] of [
    [[], 2, /required option '--context <name>' not specified/],
    [['--context', 'nowhere', 'no-such-test'], 1, /no-such-test\.cluster\.ts does not exist/],
  ] as const) {
    const ended = await run(process.execPath, [command, ...args]);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, words);
  }
});

test('a cluster is given back as it was', async (t) => {
  await using cluster = await startCluster();
  const environment = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const options = { image: 'pg:17', kubectl: cluster.kubectl, environment, say: (): void => undefined };

  await t.test('a context that does not exist is named', async () => {
    await assert.rejects(BorrowedCluster.borrow({ ...options, context: 'nowhere' }), /nowhere/);
  });

  for (const what of ['without the CRD', 'with a CRD of its own']) {
    await t.test(what, async () => {
      // GIVEN
      if (what !== 'without the CRD') await cluster.kubectlRun(['create', '-f', plumblineCrd]);
      const before = await namesOf(cluster);

      // WHEN a test makes a namespace
      const borrowed = await BorrowedCluster.borrow({ ...options, context: 'plumbline' });
      const existing = existingCluster(environmentFor(borrowed.cluster));
      assert.ok(existing);
      const namespace = await newNamespace(existing);
      assert.match(
        await namesOf(cluster),
        new RegExp(`namespace/${namespace}\n[^]*databaseservices\\.plumbline\\.dev`),
      );

      // THEN nothing is left of it
      await borrowed.giveBack();
      assert.equal(await namesOf(cluster), before);
    });
  }
});

test('the tests of members run on a cluster that is named', { skip }, async () => {
  const image = await postgresqlImage();
  await using cluster = await startCluster({ node: true, images: [image] });
  const before = await namesOf(cluster);
  const env = { KUBECONFIG: cluster.kubeconfig, PATH: `${dirname(cluster.kubectl)}:${process.env['PATH']}` };
  const args = [command, '--context', 'plumbline', '--image', image.reference, 'start'];
  const ended = await run(process.execPath, args, { env });
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  assert.match(ended.stdout, /^ℹ pass 1$/m);
  assert.equal(await namesOf(cluster), before);
});
