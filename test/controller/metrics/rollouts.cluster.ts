import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../../controller/metrics/index.ts';
import { ActedMembers } from '../database/acted-members.ts';
import { Shop } from '../database/shop.ts';
import { eventually } from '../running-plumbline.ts';
import { parseExposition, type Scrape } from './exposition.ts';

test('steps and ends of rollouts are counted, and so is a failover, which no switchover that was asked for is', async () => {
  // GIVEN a database of three members that runs
  const metrics = new Metrics();
  await using shop = await Shop.open({ metrics });
  const scrape = async (): Promise<Scrape> => {
    let text = '';
    for await (const part of metrics.text()) text += part;
    return parseExposition(text);
  };
  const runs = (primary: string) =>
    eventually(`it runs, and ${primary} leads`, async () => {
      const status = await shop.status('orders');
      return (status?.phase === 'Running' && status.primary === primary) || undefined;
    });
  await shop.create('orders', { replicas: 3 });
  {
    await using members = new ActedMembers(shop, 'orders');
    await runs('orders-0');
    await eventually(
      'it is stable',
      async () => (await scrape()).value('plumbline_rollouts_total', { outcome: 'stable' }) === 1 || undefined,
    );
    assert.equal((await scrape()).value('plumbline_databases', { phase: 'Running' }), 1);

    // WHEN its pods are replaced, which needs a switchover
    await shop.edit('orders', { resources: { requests: { cpu: '300m' } } });
    await eventually('another leads', () => members.primary !== 'orders-0' || undefined);
    await runs(members.primary);
    const ended = await eventually('the rollout ends', async () => {
      const found = await scrape();
      return found.value('plumbline_rollouts_total', { outcome: 'stable' }) === 2 ? found : undefined;
    });

    // THEN
    const steps = (step: string) => ended.value('plumbline_rollout_steps_total', { step });
    assert.deepEqual(['replace', 'restart'].map(steps), [3, 0]);
    assert(steps('switchover') >= 1);
    assert.equal(ended.value('plumbline_failovers_total'), 0);
  }

  // WHEN Patroni has another member lead
  const before = (await shop.status('orders'))?.primary ?? assert.fail('there is a primary');
  const after = before === 'orders-0' ? 'orders-1' : 'orders-0';
  const role = async (name: string, role: string) => {
    await shop.patch('Pod', name, { body: { metadata: { labels: { 'plumbline.dev/role': role } } } });
  };
  await role(before, 'replica');
  await role(after, 'primary');

  // THEN
  await eventually(
    'the failover is counted',
    async () => (await scrape()).value('plumbline_failovers_total') === 1 || undefined,
  );
  assert.equal((await shop.status('orders'))?.primary, after);
});
