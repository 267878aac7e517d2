import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1CronJob } from '@kubernetes/client-node';
import { newNamespace, sharedCluster } from '../../cluster/index.ts';
import { eventually } from '../../controller/running-plumbline.ts';
import { orders, rendered } from './orders.ts';

for (const schedule of ['@every 2h', '* * * * *']) {
  test(`Kubernetes makes a Job when one is due: ${schedule}`, async () => {
    // GIVEN a CronJob as it is rendered
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    const kubectl = async (args: readonly string[], stdin?: string): Promise<string> => {
      const { code, stdout, stderr } = await cluster.kubectlRun(['-n', namespace, ...args], stdin);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const resource = orders({ backup: { schedule, volume: { size: '1Gi' } } });
    const manifest = rendered<V1CronJob>(resource, 'CronJob', 'orders-backup');
    const inNamespace = { ...manifest, metadata: { ...manifest.metadata, namespace } };
    await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(inNamespace));

    // WHEN the last one was made two hours ago
    const lastScheduleTime = new Date(Date.now() - 2 * 3_600_000 - 2_000).toISOString().replace(/\.\d+Z/, 'Z');
    const patch = JSON.stringify({ status: { lastScheduleTime } });
    await kubectl(['patch', 'cronjob', 'orders-backup', '--subresource=status', '--type=merge', '--patch', patch]);

    // THEN
    const isMade = async (): Promise<true | undefined> =>
      (await kubectl(['get', 'jobs', '-o', 'name'])) !== '' || undefined;
    await eventually('there is a Job', isMade);
  });
}
