import assert from 'node:assert/strict';
import test from 'node:test';
import { NotInstalledError, requireDatabaseServices } from '../../../controller/database/preflight.ts';
import { KubeError, type Kube } from '../../../controller/kube/index.ts';

const server = 'https://127.0.0.1:6443';
const answering = (answer: unknown): Kube =>
  ({
    raw: async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
  }) as Partial<Kube> as Kube;
const error = (status: number): KubeError =>
  new KubeError({ tried: { verb: 'get', kind: '/apis', object: '' }, message: 'no', status });

test('an API server that serves DatabaseServices will do', async () => {
  await requireDatabaseServices(answering({ resources: [{ kind: 'DatabaseService' }] }), server);
});

for (const [what, answer] of [
  ['does not know the group', error(404)],
  ['knows the group without the kind', { resources: [] }],
  ['answers something else', 'hello'],
] as const) {
  test(`one that ${what} is told with the command that helps`, async () => {
    await assert.rejects(requireDatabaseServices(answering(answer), server), (thrown: unknown) => {
      assert(thrown instanceof NotInstalledError);
      assert.match(thrown.message, /127\.0\.0\.1:6443 .*kubectl apply --server-side -f crds\//);
      return true;
    });
  });
}

test('any other trouble is told as what it is', async () => {
  await assert.rejects(requireDatabaseServices(answering(error(403)), server), KubeError);
});
