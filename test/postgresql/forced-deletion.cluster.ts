import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startAnnotation } from '../../constructs/labels.ts';
import { newNamespace, sharedPodCluster, withoutOwnNode } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { NodeDatabase } from './node-database.ts';

const skip = withoutOwnNode('stops the first process of a container');
const patienceMs = 120_000;

test(
  'a pod that is deleted by force is made again at once, and starts when its server has ended',
  { skip },
  async () => {
    // GIVEN a database of one whose container does not heed that it is to end
    const cluster = await sharedPodCluster();
    const namespace = await newNamespace(cluster);
    await using database = await NodeDatabase.create(cluster, { namespace });
    const [member = ''] = database.members;
    await database.sql(member, 'create table kept as select generate_series(1, 1000) n', 'app');
    const { metadata: before } = await database.pod(member);
    const pids = (await cluster.own?.processesOf({ namespace, pod: member, container: 'postgres' })) ?? [];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      // WHEN its pod is deleted by force
      const args = ['-n', namespace, 'delete', 'pod', member, '--force', '--grace-period=0'];
      const { code, stderr } = await cluster.kubectlRun(args);
      assert.equal(code, 0, stderr);

      // THEN the next one says that it waits, and has started no server beside the one that is there still
      const said = await eventually(
        'the next one says something',
        async () => {
          const pod = await database.pod(member).catch(() => undefined);
          if (pod === undefined || pod.metadata.uid === before.uid) return undefined;
          const isReady = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
          return isReady ? 'it is ready' : pod.metadata.annotations?.[startAnnotation];
        },
        patienceMs,
      );
      assert.match(said, /VolumeInUse.*data-orders-0/);
      assert.deepEqual(
        pids.filter((pid) => !existsSync(`/proc/${pid}`)),
        [],
      );
      const running = await database.run(member, ['bash', '-c', 'cat /proc/[0-9]*/comm']);
      assert.doesNotMatch(running, /^(postgres|patroni)$/m);
    } finally {
      for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGCONT');
    }

    // AND once that has ended it goes on with the same data
    await database.allStream();
    assert.equal(await database.sql(member, 'select count(*) from kept', 'app'), '1000');
  },
);
