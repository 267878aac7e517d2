import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupLabel } from '../../constructs/labels.ts';
import { newNamespace, sharedPodCluster, withoutOwnNode, type PodCluster } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { NodeDatabase } from './node-database.ts';
import { ensureRestingPod, type RestingPod } from './resting-pod.ts';

const skip = withoutOwnNode('relies on NetworkPolicies being enforced');

const [postgresql, patroni] = [5432, 8008];

test(
  'who may connect reaches PostgreSQL, members reach each other, and nobody else reaches anything',
  { skip },
  async () => {
    // GIVEN a database that only friends may connect to
    const cluster = await sharedPodCluster();
    const [namespace, elsewhere] = [await newNamespace(cluster), await newNamespace(cluster)];
    const friends = { podSelector: { matchLabels: { role: 'friend' } } };
    await using database = await NodeDatabase.create(cluster, {
      namespace,
      replicas: 2,
      spec: { access: { from: [friends] }, backup: { schedule: '0 3 1 1 *', volume: { size: '64Mi' } } },
    });
    const address = (await database.pod('orders-0')).status.podIP ?? '';
    const pods: readonly RestingPod[] = [
      { name: 'friend', namespace, labels: { role: 'friend' } },
      { name: 'backup', namespace, labels: { [backupLabel]: 'orders' } },
      { name: 'stranger', namespace, labels: { role: 'stranger' } },
      { name: 'elsewhere', namespace: elsewhere, labels: { role: 'friend' } },
    ];
    for (const pod of pods) await ensureRestingPod(database, pod);
    const reaches = (from: string) =>
      whatItReaches(cluster, pods.find(({ name }) => name === from)?.namespace ?? namespace, from, address);

    // WHEN its NetworkPolicy has reached the node, THEN
    await eventually('a stranger is kept out', async () => (await reaches('stranger')).length === 0 || undefined);
    const found = Object.fromEntries(
      await Promise.all(
        ['friend', 'backup', 'stranger', 'elsewhere', 'orders-1'].map(async (from) => [from, await reaches(from)]),
      ),
    ) as Record<string, readonly number[]>;
    assert.deepEqual(found, {
      friend: [postgresql],
      backup: [postgresql],
      stranger: [],
      elsewhere: [],
      'orders-1': [postgresql, patroni],
    });
  },
);

/** Which ports of a database a pod can open a connection to. */
async function whatItReaches(
  cluster: PodCluster,
  namespace: string,
  pod: string,
  address: string,
): Promise<readonly number[]> {
  const { code, stdout, stderr } = await cluster.kubectlRun(
    ['-n', namespace, 'exec', '-i', pod, '--', 'python3', '-', address],
    `import socket, sys
for port in (${postgresql}, ${patroni}):
    try:
        socket.create_connection((sys.argv[1], port), 3).close()
        print(port)
    except OSError:
        pass
`,
  );
  assert.equal(code, 0, stderr);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}
