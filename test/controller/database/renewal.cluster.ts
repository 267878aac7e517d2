import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../running-plumbline.ts';
import { ActedMembers } from './acted-members.ts';
import { Shop } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

async function runs(name: string): Promise<void> {
  await eventually('it runs', async () => (await shop.status(name))?.phase === 'Running' || undefined);
  await shop.running.settled();
}

const members = ['again-0', 'again-1', 'again-2'];
const uids = () => Promise.all(members.map(async (name) => (await shop.get('Pod', name))?.metadata.uid));

test('who runs kubectl rollout restart is told what has the members made again: each once, replicas first, and over a restart', async () => {
  await shop.create('again', { replicas: 3 });
  await using acted = new ActedMembers(shop, 'again');
  await runs('again');
  const before = await uids();
  const { code, stderr } = await shop.cluster.kubectlRun([
    '-n',
    shop.namespace,
    'rollout',
    'restart',
    'statefulset/again',
  ]);
  assert.equal(code, 0, stderr);
  const told = await shop.untilCondition(
    'again',
    'Drifted',
    /^True AdditionReported: kubectl-rollout added .* kubectl /,
  );
  const events = await eventually('there is an Event', async () => {
    const found = await shop.driftEvents('again');
    return found.length > 0 ? found : undefined;
  });
  const [, words = ''] = /replicas first: kubectl (.*)$/.exec(told) ?? [];
  assert(events[0]?.endsWith(`replicas first: kubectl ${words}`), events[0]);
  await shop.running.settled();
  assert.deepEqual(await uids(), before);

  // WHEN what it says is done, and another controller takes over after the first member
  const steps: string[] = [];
  const note = () => {
    const lines = shop.running.logLines.map(
      (line) => JSON.parse(line) as { readonly msg: string; readonly reason?: string },
    );
    for (const { reason, msg } of lines) {
      if (reason === 'MemberReplaced' || reason === 'SwitchoverRequested') steps.push(`${reason} ${msg}`);
    }
  };
  const args = words.replace('$(date +%s)', '1').split(' ');
  assert.equal((await shop.cluster.kubectlRun(args)).code, 0, args.join(' '));
  await eventually('the first is made again', async () => {
    const uid = (await shop.get('Pod', 'again-2'))?.metadata.uid;
    return (uid !== undefined && uid !== before[2]) || undefined;
  });
  await shop.running.stop();
  note();
  await shop.restart();
  await eventually('the last is made again', async () => {
    const now = await uids();
    return now.every((uid, i) => uid !== undefined && uid !== before[i]) || undefined;
  });
  await runs('again');
  note();

  // THEN each was made again once, the primary last, and nobody is accused of anything
  const asked = 'as plumbline.dev/restarted-at asks';
  assert.deepEqual(
    steps.filter((step) => step.startsWith('MemberReplaced')),
    [
      `MemberReplaced again-2 is made again, ${asked}: it is a replica.`,
      `MemberReplaced again-1 is made again, ${asked}: it is a replica.`,
      `MemberReplaced again-0 is made again, ${asked}: it is a replica.`,
    ],
  );
  assert.notEqual(acted.primary, 'again-0');
  assert.deepEqual(
    (await shop.receipts('again')).map(({ manager }) => manager),
    ['kubectl-rollout'],
  );

  // AND to take the annotation away, with or without a controller, restarts nobody
  const after = await uids();
  const annotations = { 'plumbline.dev/restarted-at': null };
  await shop.patch('DatabaseService', 'again', { body: { metadata: { annotations } } });
  await eventually('the template is without it', async () => {
    const spec = JSON.stringify((await shop.get('StatefulSet', 'again'))?.['spec']);
    return spec.includes('plumbline.dev/restarted-at') ? undefined : true;
  });
  await runs('again');
  await shop.restart();
  await runs('again');
  assert.deepEqual(await uids(), after);
});
