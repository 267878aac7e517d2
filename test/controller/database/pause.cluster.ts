import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock, type Clock } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let ahead = 0;
const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
let shop: Shop;
before(async () => {
  shop = await Shop.open({ clock });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString().replace(/\.\d+Z$/, 'Z');
const pause = (until: string) => ({ drift: { additions: 'Remove', pause: { until, reason: 'moving house' } } });
const edit = (name: string, maxUnavailable: number) =>
  shop.patch('PodDisruptionBudget', name, { body: { spec: { maxUnavailable } } });
async function budget(name: string): Promise<unknown> {
  return ((await shop.get('PodDisruptionBudget', name))?.['spec'] as { maxUnavailable?: number } | undefined)
    ?.maxUnavailable;
}

test('until a pause ends nothing is corrected, but told; then it is, without a word from anybody', async () => {
  const until = inMs(20_000);
  await shop.create('paused', { ...wholeSpec, ...pause(until) });
  assert.equal(
    await shop.condition('paused', 'Paused'),
    `True DriftPaused: Nothing is corrected until ${until} (moving house).`,
  );
  assert.equal((await shop.status('paused'))?.pausedUntil, until);
  const { stdout } = await shop.cluster.kubectlRun(['get', 'dbs', 'paused', '-n', shop.namespace, '-o', 'wide']);
  assert(stdout.includes(until), stdout);

  await edit('paused', 2);
  await shop.untilCondition('paused', 'Drifted', /^True DriftReported: kubectl-edit changed spec\.maxUnavailable/);
  const note = { spec: { template: { metadata: { annotations: { note: 'x' } } } } };
  await shop.patch('StatefulSet', 'paused', { body: note });
  await shop.delete('Service', 'paused-ro');
  await eventually('all is told', async () => (await shop.receipts('paused')).length === 3 || undefined);
  assert((await shop.receipts('paused')).every(({ action }) => action === 'Reported'));
  const [event] = await shop.driftEvents('paused');
  assert.match(event ?? '', new RegExp(`It was left, since drift is paused until ${until}\\.$`));
  await shop.running.settled();
  assert.deepEqual(
    await shop.requestsFor(() => new Promise((resolve) => setTimeout(resolve, 2_000))),
    [],
    'no countdown',
  );
  await shop.restart(undefined, { clock });
  assert.deepEqual([await budget('paused'), await shop.get('Service', 'paused-ro')], [2, undefined]);
  assert.equal((await shop.receipts('paused')).length, 3, 'told once');

  await shop.untilCondition('paused', 'Paused', /^False NotPaused/);
  await shop.untilCondition('paused', 'Drifted', /^False InTrue/);
  assert.equal(await budget('paused'), 1);
  assert(await shop.get('Service', 'paused-ro'));
  const { spec } = (await shop.get('StatefulSet', 'paused')) as unknown as { spec: object };
  assert(!JSON.stringify(spec).includes('"note"'));
  assert.equal((await shop.status('paused'))?.pausedUntil, undefined);
  const corrected = (await shop.receipts('paused')).filter(({ action }) => action === 'Corrected');
  assert.deepEqual(corrected.map(({ object }) => object).sort(), [
    'PodDisruptionBudget/paused',
    'Service/paused-ro',
    'StatefulSet/paused',
  ]);
});

test('a pause in the past is none, and a change of the spec reaches what it concerns also in one', async () => {
  await shop.create('past', { ...wholeSpec, ...pause(inMs(-60_000)) });
  assert.match(await shop.condition('past', 'Paused'), /^False NotPaused/);
  await edit('past', 2);
  await eventually('it is put back', async () => (await budget('past')) === 1 || undefined);
  await shop.edit('past', pause(inMs(3_600_000)));
  await shop.untilCondition('past', 'Paused', /^True/);
  await shop.edit('past', { replicas: 2 });
  await eventually('the change is applied', async () => {
    const { spec } = (await shop.get('StatefulSet', 'past')) as unknown as { spec: { replicas: number } };
    return spec.replicas === 2 || undefined;
  });
  await edit('past', 2);
  await shop.untilCondition('past', 'Drifted', /^True DriftReported/);
  ahead += 3_700_000;
  await shop.patch('DatabaseService', 'past', { body: { metadata: { annotations: { look: 'again' } } } });
  await shop.untilCondition('past', 'Drifted', /^False InTrue/);
});

test('a time that is none is refused', async () => {
  await assert.rejects(shop.submit('never', pause('tomorrow')), /until/);
});

for (const [how, drift] of [
  ['only reported', { policy: 'Report' }],
  ['paused', { pause: { until: '2099-01-01T00:00:00Z', reason: 'moving house' } }],
] as const) {
  test(`what somebody removed while drift is ${how} stays so over a restart, also with a change of the spec or where something else hinders`, async () => {
    const name = `gone-${how.slice(0, 4)}`;
    const label = 'app.kubernetes.io/instance';
    await shop.create(name, { ...wholeSpec, drift });
    await shop.delete('PodDisruptionBudget', name);
    await shop.patch('Service', name, { body: { metadata: { labels: { [label]: null } } } });
    await shop.untilCondition(name, 'Drifted', /PodDisruptionBudget/);
    const isAsLeft = async (): Promise<void> => {
      await shop.running.settled();
      assert.equal(await shop.get('PodDisruptionBudget', name), undefined);
      assert.equal((await shop.get('Service', name))?.metadata.labels?.[label], undefined);
    };
    await isAsLeft();

    // A change of the spec while no controller runs: what it concerns is applied, and no more
    await shop.restart(() => shop.edit(name, { backup: { schedule: '1 1 * * *' } }));
    await isAsLeft();
    const spec = (await shop.get('CronJob', `${name}-backup`))?.['spec'] as { readonly schedule: string };
    assert.equal(spec.schedule, '1 1 * * *');

    // Something that cannot be applied
    const foreign = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: `${name}-backup` } };
    await shop.running.stop();
    await shop.delete('ServiceAccount', `${name}-backup`);
    const { code, stderr } = await shop.cluster.kubectlRun(
      ['-n', shop.namespace, 'create', '-f', '-'],
      JSON.stringify(foreign),
    );
    assert.equal(code, 0, stderr);
    await shop.restart();
    await shop.untilCondition(name, 'Stalled', /^True NameTaken/);
    await shop.restart();
    await shop.untilCondition(name, 'Stalled', /^True NameTaken/);
    await isAsLeft();

    // And it is put back once that is asked for
    await shop.delete('ServiceAccount', `${name}-backup`);
    await shop.edit(name, { drift: null });
    await eventually(
      'it is there',
      async () => (await shop.get('PodDisruptionBudget', name)) !== undefined || undefined,
    );
    await shop.untilCondition(name, 'Drifted', /^False InTrue/);
  });
}
