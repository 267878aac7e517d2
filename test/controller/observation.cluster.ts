import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { ask } from './endpoints/ask.ts';
import { MainProcess } from './main-process.ts';
import { parseExposition } from './metrics/exposition.ts';
import { eventually } from './running-plumbline.ts';

/** The port that a log line tells. */
function portIn(main: MainProcess, message: string): number {
  const lines = main.stdout.split('\n').filter((line) => line.startsWith('{'));
  const found = lines
    .map((line) => JSON.parse(line) as { msg: string; port: number })
    .find(({ msg }) => msg === message);
  return found?.port ?? assert.fail(`no line says: ${message}`);
}

describe('the controller, seen from outside', () => {
  test('leader and standby are ready and healthy, tell their metrics, and who of them leads', async () => {
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    const flags = ['--kubeconfig', cluster.kubeconfig, '--namespace', namespace, '--lease-namespace', namespace];
    const served = ['--health-address', '127.0.0.1:0', '--metrics-address', '127.0.0.1:0', '--metrics-auth', 'none'];
    await using leader = new MainProcess(...flags, ...served);
    await leader.says('leading');
    await using standby = new MainProcess(...flags, ...served);
    await standby.says('the leader is known');

    for (const [main, status] of [
      [leader, 1],
      [standby, 0],
    ] as const) {
      const health = `http://127.0.0.1:${portIn(main, 'health is served')}`;
      await eventually('it is ready', async () => (await ask(`${health}/readyz`)).status === 200 || undefined);
      const { body } = await ask(`${health}/readyz?verbose`);
      assert.equal(body, '[+]ping ok\n[+]caches ok\n[+]lease ok\nreadyz check passed\n');
      assert.equal((await ask(`${health}/healthz`)).body, 'ok');
      assert.equal((await ask(`${health}/metrics`)).status, 404);

      const metrics = `http://127.0.0.1:${portIn(main, 'metrics are served')}/metrics`;
      const { headers, body: text } = await ask(metrics, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
      assert.equal(headers['content-encoding'], 'gzip');
      const scrape = parseExposition(text);
      assert.equal(scrape.value('leader_election_master_status', { name: 'plumbline-controller' }), status);
      assert(scrape.value('process_resident_memory_bytes') > 1e7);
      assert(scrape.types.has('nodejs_eventloop_lag_p99_seconds'));
    }
  });

  test('an address that is taken is told in one line, with exit code 1', async () => {
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    const flags = ['--kubeconfig', cluster.kubeconfig, '--namespace', namespace, '--lease-namespace', namespace];
    await using first = new MainProcess(...flags, '--health-address', '127.0.0.1:0');
    await first.says('health is served');
    const address = `127.0.0.1:${portIn(first, 'health is served')}`;
    await using second = new MainProcess(...flags, '--metrics-address', address, '--metrics-auth', 'none');
    assert.equal(await second.ends(), 1);
    assert.equal(
      second.stderr,
      `--metrics-address: ${address} is taken by another process: end that, or choose another port\n`,
    );
  });
});
