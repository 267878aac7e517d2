import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { argoCustomizations } from '../../../constructs/argocd/customizations.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { mergePatch } from '../../argocd/merge-patch.ts';
import { valueInArgoCd } from '../../argocd/runner.ts';
import { Shop } from '../../controller/database/shop.ts';
import { eventually } from '../../controller/running-plumbline.ts';

/** As Argo CD reads it out of its ConfigMap. */
const customization = parse(
  argoCustomizations()['resource.customizations.actions.plumbline.dev_DatabaseService'] ?? '',
) as {
  readonly 'discovery.lua': string;
  readonly definitions: readonly { readonly name: string; readonly 'action.lua': string }[];
};

let shop: Shop;
before(async () => {
  shop = await Shop.open();
  await shop.create('orders', {
    drift: { policy: 'Report' },
    backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } },
  });
  await shop.create('bare');
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

async function live(name: string): Promise<KubeObject> {
  return (await shop.resource(name)) as unknown as KubeObject;
}

/** Names of the actions that Argo CD offers for a database now. */
async function offered(name: string): Promise<readonly string[]> {
  const script = customization['discovery.lua'];
  const actions = (await valueInArgoCd({ script, object: await live(name) })) as Readonly<
    Record<string, { readonly disabled?: boolean }>
  >;
  return Object.keys(actions)
    .filter((action) => actions[action]?.disabled !== true)
    .sort();
}

/** What a click on an action does. */
async function act(name: string, action: string, parameters?: Readonly<Record<string, string>>, timeZone?: string) {
  const script = customization.definitions.find((one) => one.name === action)?.['action.lua'];
  assert(script, action);
  const object = await live(name);
  const returned = await valueInArgoCd({ script, object, ...(parameters && { parameters }) }, timeZone);
  const body = mergePatch(object, returned as KubeObject);
  await shop.patch('DatabaseService', name, { body, fieldManager: 'argocd-server' });
  return body;
}

test('each action that is offered anywhere has a script, and each script an offer', async () => {
  const script = customization['discovery.lua'];
  const all = Object.keys((await valueInArgoCd({ script, object: await live('bare') })) as object);
  assert.deepEqual(all.sort(), customization.definitions.map(({ name }) => name).sort());
});

test('what is offered is what makes sense now', async () => {
  assert.deepEqual(await offered('bare'), ['pause-drift', 'rollback']);
  assert.deepEqual(await offered('orders'), ['pause-drift', 'rollback', 'suspend-backups']);
});

for (const timeZone of ['UTC', 'Asia/Kolkata']) {
  test(`pause-drift pauses for an hour and nothing else, and resume-drift ends it (in ${timeZone})`, async () => {
    const began = Date.now();
    const patch = await act('orders', 'pause-drift', undefined, timeZone);
    const { spec } = patch as { readonly spec: { readonly drift: { readonly pause: { readonly until: string } } } };
    assert.deepEqual(Object.keys(patch), ['spec']);
    const hours = (Date.parse(spec.drift.pause.until) - began) / 3_600_000;
    assert.ok(hours > 0.99 && hours < 1.1, spec.drift.pause.until);
    await shop.untilCondition('orders', 'Paused', /^True .*\(asked for in Argo CD\)/);
    assert.equal((await shop.resource('orders')).spec.drift?.policy, 'Report');
    assert.ok((await offered('orders')).includes('resume-drift'));
    await act('orders', 'resume-drift');
    await shop.untilCondition('orders', 'Paused', /^False/);
  });
}

test('where the spec says nothing of drift, the pause leaves nothing behind that means something', async () => {
  await act('bare', 'pause-drift');
  await shop.untilCondition('bare', 'Paused', /^True/);
  await act('bare', 'resume-drift');
  await shop.untilCondition('bare', 'Paused', /^False/);
  assert.deepEqual((await shop.resource('bare')).spec.drift, {});
});

test('rollback asks for a revision, and end-rollback takes that back', async () => {
  await act('orders', 'rollback', { revision: '99' });
  await shop.untilCondition('orders', 'Stalled', /^True RevisionUnknown: .* asks for revision 99/);
  assert.ok((await offered('orders')).includes('end-rollback'));
  await act('orders', 'end-rollback');
  await shop.untilCondition('orders', 'Stalled', /^False/);
  assert.ok(!(await offered('orders')).includes('end-rollback'));
});

for (const revision of ['', 'x', '1.5', '0', '-1']) {
  test(`"${revision}" is no revision, and nothing is done`, async () => {
    await assert.rejects(act('orders', 'rollback', { revision }), /revision must be a number of the history/);
  });
}

test('suspend-backups and resume-backups are in force on the CronJob', async () => {
  const isSuspended = (value: boolean) =>
    eventually(`suspend is ${value}`, async () => {
      const { spec } = (await shop.get('CronJob', 'orders-backup')) as unknown as { spec: { suspend: boolean } };
      return spec.suspend === value || undefined;
    });
  await act('orders', 'suspend-backups');
  await isSuspended(true);
  assert.ok((await offered('orders')).includes('resume-backups'));
  await act('orders', 'resume-backups');
  await isSuspended(false);
});
