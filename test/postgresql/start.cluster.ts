import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { databaseServices, secrets } from '../../controller/database/kinds.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { databaseService, eventually, RunningPlumbline } from '../controller/running-plumbline.ts';

const skip = withoutPods();

/** What the start gate takes for the identity of this member's data, and of a copy with one wrong bit in its control file. */
const identities = `import os, shutil, sys, tempfile
sys.path.insert(0, "/etc/plumbline")
from identity import identity_of
with tempfile.TemporaryDirectory() as copy:
    os.mkdir(f"{copy}/global")
    for name in ("PG_VERSION", "global/pg_control"):
        shutil.copy(f"/data/pgdata/{name}", f"{copy}/{name}")
    good = identity_of(copy)
    with open(f"{copy}/global/pg_control", "r+b") as file:
        first = file.read(1)[0]
        file.seek(0)
        file.write(bytes([first ^ 1]))
    print(good, identity_of(copy))
`;

test('three members start on a node: one primary, two that stream, and the Service leads to it', { skip }, async () => {
  // GIVEN a namespace that admits restricted pods only, and a database of three
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await cluster.kubectlRun(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  await using running = await RunningPlumbline.start(cluster, { namespace });
  const resources = { requests: { cpu: '50m', memory: '256Mi' } };
  const spec = {
    image: cluster.image,
    replicas: 3,
    durability: 'Sync',
    resources,
    storage: { size: '512Mi' },
  };
  await running.kube.create(databaseService(namespace, 'orders', spec), {
    type: databaseServices,
    fieldManager: 'kubectl-create',
  });

  // WHEN it is up
  const status = await eventually('it is running', async () => {
    const found = (await running.database(namespace, 'orders'))['status'] as DatabaseServiceStatus | undefined;
    return found?.phase === 'Running' ? found : undefined;
  });

  // THEN the status says so, and the owner of the Secret can write through the Service
  assert.equal(status.ready, '3/3');
  assert.match(status.primary ?? '', /^orders-[0-2]$/);
  const secret = await running.kube.get(secrets, { namespace, name: 'orders-credentials' });
  const { password = '' } = secret['data'] as Record<string, string>;
  const sql = `create table t (n int); insert into t values (1); select count(*) from t`;
  const query = (password: string) => {
    const command = `read -r PGPASSWORD && export PGPASSWORD && psql -X -h orders -U app -d app -Atc '${sql}'`;
    return cluster.kubectlRun(
      ['-n', namespace, 'exec', '-i', 'orders-0', '-c', 'postgres', '--', 'bash', '-c', command],
      `${password}\n`,
    );
  };
  const refused = await query('wrong');
  assert.match(refused.stderr, /password authentication failed/);
  const answered = await query(Buffer.from(password, 'base64').toString());
  assert.equal(answered.code, 0, answered.stderr);
  assert.match(answered.stdout, /^1$/m);

  // AND the programs of this major tell a control file of which one bit is wrong from a good one
  const told = await cluster.kubectlRun(
    ['-n', namespace, 'exec', '-i', 'orders-0', '-c', 'postgres', '--', 'python3', '-B', '-'],
    identities,
  );
  assert.match(told.stdout, /^[0-9]+ None\n$/, told.stderr);

  // AND nothing is asked at rest but by the watches
  await eventually('it comes to rest', async () => {
    const before = running.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return running.requestsAfter(before).length === 0 || undefined;
  });
});
