import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stateAll } from '../../../controller/database/stated.ts';
import { content } from '../drift-corpus/content.ts';
import { eventually } from '../running-plumbline.ts';
import { falsehood } from '../truth.ts';
import { Shop } from './shop.ts';
import { pairsOfSpecs, validSpecs, wholeOf } from './valid-specs.ts';

/** So many at the same time. */
const width = 8;

test('what any valid spec renders is true once it is applied: nobody drifts and nothing is asked, also by another controller', async () => {
  await using shop = await Shop.open();
  let count = 0;
  const property = fc.asyncProperty(fc.array(validSpecs, { minLength: width, maxLength: width }), async (specs) => {
    const names = specs.map(() => `db-${(count += 1)}`);
    await Promise.all(specs.map((spec, n) => shop.create(names[n] ?? '', spec)));
    for (const name of names) assert.equal(await falsehood(shop.kube, { namespace: shop.namespace, name }), undefined);
    assert.deepEqual(await shop.requestsFor(async () => undefined), []);
    assert.deepEqual(shop.running.drifts, []);
    await shop.restart();
    const asked = shop.running.requestsAfter(0).filter(({ verb }) => verb !== 'list');
    assert.deepEqual(
      asked.map(({ verb, type }) => `${verb} ${type?.kind}`),
      [],
    );
    assert.deepEqual(shop.running.drifts, []);
  });
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});

test('from any valid spec to any other and back, every object ends as it was, byte for byte', async () => {
  await using shop = await Shop.open();
  let count = 0;
  const pairs = fc.array(pairsOfSpecs, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(pairs, async (drawn) => {
    await Promise.all(
      drawn.map(async ([a, b]) => {
        const name = `db-${(count += 1)}`;
        await shop.create(name, a);
        const before = await bytes(shop, name);
        await become(shop, name, b);
        await become(shop, name, a);
        assert.deepEqual(await bytes(shop, name), before);
      }),
    );
    assert.deepEqual(shop.running.drifts, []);
  });
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});

/** All that is rendered with what the server made of it, each as JSON; but for what tells that a Role or a CronJob was away meanwhile. */
async function bytes(shop: Shop, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { object } of stateAll(await shop.resource(name))) {
    const live = await shop.get(object.kind, object.metadata.name);
    if (live === undefined) throw new Error(`there is no ${object.kind} ${object.metadata.name}`);
    const { uid: _, creationTimestamp: __, ...metadata } = live.metadata;
    found.push(JSON.stringify(content({ ...live, metadata })));
  }
  return found;
}

/** Replaces the spec, and waits until it is seen and nothing more is done about it. */
async function become(shop: Shop, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const value = wholeOf(spec);
  await shop.patch('DatabaseService', name, { kind: 'json', body: [{ op: 'replace', path: '/spec', value }] });
  const { generation } = (await shop.resource(name)).metadata;
  await eventually('it is seen', async () => (await shop.status(name))?.observedGeneration === generation || undefined);
  await shop.running.settled();
}
