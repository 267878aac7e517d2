import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { claims } from '../../../controller/database/kinds.ts';
import { eventually } from '../running-plumbline.ts';
import { ActedMembers } from './acted-members.ts';
import { inShort, Shop } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const report = { drift: { policy: 'Report' } };

async function runs(name: string): Promise<void> {
  await eventually('it runs', async () => (await shop.status(name))?.phase === 'Running' || undefined);
  await shop.running.settled();
}

/** Changes the template as a person would. */
async function edit(name: string, containers: readonly object[]): Promise<void> {
  const body = { spec: { template: { spec: { containers } } } };
  await shop.patch('StatefulSet', name, { kind: 'strategic', body });
  await shop.untilCondition(name, 'Drifted', /^True/);
  await shop.untilObserved(name);
}

async function containers(pod: string): Promise<readonly { readonly name: string; readonly image: string }[]> {
  const spec = (await shop.get('Pod', pod))?.['spec'] as { containers: { name: string; image: string }[] } | undefined;
  return spec?.containers ?? [];
}

/** A pod that is lost and made again from the template as it is. */
async function lose(pod: string): Promise<void> {
  const before = (await shop.get('Pod', pod))?.metadata.uid;
  await shop.delete('Pod', pod);
  await eventually('it is made again', async () => {
    const uid = (await shop.get('Pod', pod))?.metadata.uid;
    return (uid !== undefined && uid !== before) || undefined;
  });
}

const deletions = (since: number): number =>
  shop.running.requestsAfter(since).filter((request) => inShort(request) === 'delete Pod').length;

test('a member that was made from an edited template is made again once the template is put back, and no other is', async () => {
  await shop.create('edited', { replicas: 3, ...report });
  await using _members = new ActedMembers(shop, 'edited');
  await runs('edited');

  // GIVEN an edit that is only reported, and a member that is lost meanwhile
  await edit('edited', [{ name: 'postgres', image: 'another/image:17' }]);
  const since = shop.running.requests.length;
  await lose('edited-1');
  await runs('edited');
  assert.equal(deletions(since), 0);

  // WHEN it is corrected, by a controller that was not there before
  await shop.restart(async () => shop.edit('edited', { drift: null }));
  const again = () => containers('edited-1');
  await eventually(
    'the member has its image again',
    async () =>
      ((await again()).every(({ image }) => image !== 'another/image:17') && (await again()).length > 0) || undefined,
  );
  await runs('edited');

  // THEN it alone was made again, once, and it is told why
  assert.equal(deletions(0), 1);
  const told = shop.running.logLines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
  assert(
    told.includes(
      'edited-1 is made again from the template, which somebody had changed when it was made: it is a replica.',
    ),
    told.join('\n'),
  );
  const rest = shop.running.requests.length;
  await shop.edit('edited', { access: { from: [{ podSelector: {} }] } });
  await shop.running.settled();
  assert(!shop.running.requestsAfter(rest).map(inShort).includes('get ControllerRevision'));
});

test('a member with a sidecar that was added goes without it once additions are removed, and not before', async () => {
  await shop.create('added', { replicas: 3 });
  await using _members = new ActedMembers(shop, 'added');
  await runs('added');
  await edit('added', [{ name: 'sidecar', image: 'somebody/sidecar:1' }]);
  await lose('added-2');
  const since = shop.running.requests.length;
  await runs('added');
  await shop.restart();
  await runs('added');
  assert.equal(deletions(0) + deletions(since), 0);
  assert((await containers('added-2')).some(({ name }) => name === 'sidecar'));
  await shop.edit('added', { drift: { additions: 'Remove' } });
  await eventually('it has no sidecar', async () => {
    const names = (await containers('added-2')).map(({ name }) => name);
    return (names.length > 0 && !names.includes('sidecar')) || undefined;
  });
  await runs('added');
  assert.equal(deletions(0), 1);
});

for (const [why, drift] of [
  ['only reported', report.drift],
  ['paused', { pause: { until: '2099-01-01T00:00:00Z', reason: 'moving house' } }],
] as const) {
  test(`a claim stays as long as the StatefulSet asks for its member: drift is ${why}`, async () => {
    const name = `claims-${why.slice(0, 4)}`;
    await shop.create(name, { replicas: 2, storage: { size: '1Gi', onDelete: 'Delete' }, drift });
    await using _members = new ActedMembers(shop, name);
    await runs(name);
    const body = { spec: { replicas: 3 } };
    const since = shop.running.requests.length;
    await shop.patch('StatefulSet', name, { body, subresource: 'scale', fieldManager: 'kubectl' });
    await eventually('the third is there', () => shop.get('Pod', `${name}-2`));
    await shop.untilCondition(name, 'Drifted', /^True DriftReported: kubectl changed spec\.replicas/);
    await shop.running.settled();
    const claim = (await shop.list(claims)).find(({ metadata }) => metadata.name === `data-${name}-2`);
    assert(claim !== undefined && claim.metadata.deletionTimestamp === undefined);
    assert(
      !shop.running
        .requestsAfter(since)
        .map(inShort)
        .some((request) => request.startsWith('delete')),
    );
  });
}
