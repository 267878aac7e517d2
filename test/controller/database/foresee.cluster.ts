import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { watchedKinds } from '../../../controller/database/kinds.ts';
import { foresee } from '../../../controller/delivery/foresee.ts';
import { foreseenInWords } from '../../../controller/delivery/foreseen.ts';
import { KubeClient, connect, type RequestFacts } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { inShort, Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
  await shop.create('orders', wholeSpec);
  // Nobody repairs from here on what is changed here.
  await shop.running.stop();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

/** Asks what would change, and tries that nothing did. */
async function ask(spec: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const asked: RequestFacts[] = [];
  const connection = await connect({ kubeconfig: shop.cluster.kubeconfig });
  await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
  const kube = new KubeClient(connection, { onRequest: (facts) => asked.push(facts) });
  const resource = await shop.resource('orders');
  const versions = await allVersions();
  const words = foreseenInWords(await foresee(kube, { ...resource, spec: { ...resource.spec, ...spec } }));
  assert.deepEqual(await allVersions(), versions, 'nothing was written');
  assert(
    asked.every(({ verb }) => ['get', 'list', 'apply'].includes(verb)),
    asked.map(inShort).join(),
  );
  return words;
}

/** Without pods: Kubernetes goes on about them by itself. */
async function allVersions(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { type } of watchedKinds.filter(({ type }) => type.kind !== 'Pod')) {
    for (const { metadata } of await shop.list(type))
      found.push(`${type.kind} ${metadata.name} ${metadata.resourceVersion}`);
  }
  return found.sort();
}

test('of a database that is true nothing would change', async () => {
  assert.equal(await ask(), '');
});

test('a change of the spec is said field by field, and what it takes away', async () => {
  const words = await ask({ replicas: 2, backup: undefined });
  assert.match(words, /^StatefulSet\/orders would be changed\n(  .*\n)*  spec\.replicas: 3 → 2$/m);
  assert.match(words, /^CronJob\/orders-backup would be removed$/m);
});

test('what somebody changed would be put back, and what is hidden elsewhere is hidden here', async () => {
  const container = { name: 'postgres', image: 'evil:1', env: [{ name: 'HOME', value: 'hunter2' }] };
  const body = { spec: { template: { spec: { containers: [container] } } } };
  await shop.patch('StatefulSet', 'orders', { kind: 'strategic', body });
  await shop.patch('ConfigMap', 'orders-patroni', { body: { data: { 'member.json': 'hunter2' } } });
  await shop.delete('Service', 'orders-ro');
  const words = await ask();
  const at = String.raw`spec\.template\.spec\.containers\[name=postgres\]`;
  assert.match(words, new RegExp(`^  ${at}\\.image: evil:1 → \\S+$`, 'm'));
  assert.match(words, new RegExp(`^  ${at}\\.env\\[name=HOME\\]\\.value: \\(hidden\\) → \\(hidden\\)$`, 'm'));
  assert.match(
    words,
    /^ConfigMap\/orders-patroni would be changed\n {2}data\[member\.json\]: \(hidden\) → \(hidden\)$/m,
  );
  assert.match(words, /^ {2}To put it back restarts no member\.$/m);
  assert.match(words, /^Service\/orders-ro would be created$/m);
  assert.doesNotMatch(words, /hunter2/);
});

test('what would only be refused as long as it is somebody else’s would be put back', async () => {
  const port = (value: number) =>
    shop.patch('Service', 'orders', { kind: 'json', body: [{ op: 'replace', path: '/spec/ports/0/port', value }] });
  await port(5433);
  assert.match(
    await ask(),
    /^Service\/orders would be changed\n  spec\.ports\[port=5432,protocol=TCP\]: \{"port":5433\} → \{"port":5432\}$/m,
  );
  await port(5432);
});

test('what somebody added and that stands in the way would go, as it does in a repair', async () => {
  const limit = (cpu: string | null) =>
    shop.patch('StatefulSet', 'orders', {
      kind: 'strategic',
      body: { spec: { template: { spec: { containers: [{ name: 'postgres', resources: { limits: { cpu } } }] } } } },
    });
  await limit('300m');
  const spec = { resources: { requests: { cpu: '2' } } };
  const words = await ask(spec);
  const at = 'spec.template.spec.containers[name=postgres].resources';
  assert.match(words, /^StatefulSet\/orders would be changed$/m);
  assert(words.includes(`  ${at}.requests.cpu: 250m → 2\n`), words);
  assert(words.includes(`  ${at}.limits.cpu: 300m removed`), words);
  assert(words.includes('  All members restart for that, replicas first.'), words);
  const before = await shop.resource('orders');
  await shop.edit('orders', spec);
  await shop.restart();
  await eventually('and so it went', async () => {
    const live = JSON.stringify((await shop.get('StatefulSet', 'orders'))?.['spec']);
    return live.includes('"requests":{"cpu":"2"') && !live.includes('"cpu":"300m"');
  });
  await shop.edit('orders', { resources: before.spec.resources ?? null });
  await shop.running.settled();
  await shop.running.stop();
});

test('what the API server would refuse is said with its reason', async () => {
  const words = await ask({ backup: { ...wholeSpec.backup, volume: { size: '2Gi' } } });
  assert.match(words, /^PersistentVolumeClaim\/orders-backup could not be brought to what is stated: .*/m);
});
