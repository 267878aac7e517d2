import assert from 'node:assert/strict';
import test from 'node:test';
import { handOver, type HandOver } from '../../../controller/rollout/hand-over.ts';
import { shrink } from '../../../controller/rollout/shrink.ts';
import { nextStep } from '../../../controller/rollout/step.ts';
import { member, members } from './given.ts';

const slot = (name: string, isFailover = false) => ({ name, database: 'app', plugin: 'pgoutput', isFailover });
const step = (more: Partial<HandOver>) =>
  handOver({
    from: member(0),
    candidates: [member(1), member(2)],
    mayLose: [],
    isOpen: true,
    message: 'orders-0 hands over.',
    ...more,
  });

test('without logical slots every candidate may take over', () => {
  assert.deepEqual(step({}), {
    kind: 'switchover',
    from: 'orders-0',
    candidates: ['orders-1', 'orders-2'],
    isOpen: true,
    message: 'orders-0 hands over.',
  });
});

test('a slot that no candidate has: it waits, and names slot, database, plugin and what to do', () => {
  const found = step({ from: member(0, { slots: [slot('cdc')] }) });
  assert(found.kind === 'wait' && found.why === 'SlotAtRisk');
  assert.match(found.message, /would lose logical slot cdc \(database app, plugin pgoutput\) of orders-0/);
  assert.match(found.message, /failover => true.*drop it.*annotation plumbline\.dev\/lose-slots: "cdc"\.$/);
});

test('a failover slot that is not in step yet: its consumer is to go on', () => {
  const found = step({ from: member(0, { slots: [slot('cdc', true)] }) });
  assert.match('message' in found ? found.message : '', /do not have it in step yet: let its consumer go on/);
});

test('only who has every slot in step takes over, and then nobody else may', () => {
  const from = member(0, { slots: [slot('cdc', true), slot('etl', true)] });
  const candidates = [member(1, { synced: ['cdc'] }), member(2, { synced: ['cdc', 'etl'] })];
  const found = step({ from, candidates });
  assert(found.kind === 'switchover');
  assert.deepEqual([found.candidates, found.isOpen], [['orders-2'], false]);
});

test('of slots that are at risk only those are named that the best candidate lacks', () => {
  const from = member(0, { slots: [slot('cdc', true), slot('audit')] });
  const found = step({ from, candidates: [member(1), member(2, { synced: ['cdc'] })] });
  const message = 'message' in found ? found.message : '';
  assert.match(message, /logical slot audit/);
  assert.doesNotMatch(message, /cdc/);
});

test('a slot that is given up is named with the switchover, and whoever keeps more goes first', () => {
  const from = member(0, { slots: [slot('cdc', true), slot('audit')] });
  const found = step({
    from,
    candidates: [member(1), member(2, { synced: ['cdc'] })],
    mayLose: ['audit', 'cdc'],
  });
  assert(found.kind === 'switchover');
  assert.deepEqual([found.candidates, found.isOpen], [['orders-2', 'orders-1'], false]);
  assert.match(
    found.message,
    /It loses logical slot audit \(database app, plugin pgoutput\), as plumbline\.dev\/lose-slots says\.$/,
  );
  assert.equal(step({ from, mayLose: ['audit'] }).kind, 'wait');
});

test('what is given up and carried over all the same is not called lost', () => {
  const from = member(0, { slots: [slot('cdc', true)] });
  const found = step({ from, candidates: [member(1, { synced: ['cdc'] })], mayLose: ['cdc'] });
  assert.equal('message' in found && found.message, 'orders-0 hands over.');
});

test('the rolling change and fewer members wait alike; the only member hands over to nobody', () => {
  const slots = [slot('cdc')];
  const rolled = members({ isLeader: true, need: 'replacement', slots }, {}, {});
  assert.equal(why(nextStep(rolled)), 'SlotAtRisk');
  assert.equal(nextStep({ ...rolled, mayLose: ['cdc'] }).kind, 'switchover');
  const last = members({}, {}, { isLeader: true, slots });
  const { replicas, step: before } = shrink(last, 1);
  assert.deepEqual([replicas, why(before)], [3, 'SlotAtRisk']);
  assert.equal(shrink({ ...last, mayLose: ['cdc'] }, 1).step?.kind, 'switchover');
  assert.equal(nextStep(members({ isLeader: true, need: 'replacement', slots })).kind, 'replace');
});

function why(step: ReturnType<typeof nextStep> | undefined): string | undefined {
  return step?.kind === 'wait' ? step.why : step?.kind;
}
