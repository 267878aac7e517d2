import assert from 'node:assert/strict';
import test from 'node:test';
import {
  contestsOf,
  contestsOver,
  creation,
  deletion,
  fightsOf,
  noteFlips,
  type Contests,
  type Drift,
} from '../../../controller/drift/index.ts';

const rules = { flips: 3, withinMs: 60_000, restMs: 10_000 };
const object = 'StatefulSet/orders';
const flip = (now: string, manager = 'autoscaler'): Drift => ({
  object,
  field: 'spec.replicas',
  was: '3',
  now,
  editor: { manager, operation: 'Update', time: undefined },
});

/** What has become of flips at given seconds. */
function after(...flips: readonly (readonly [second: number, drift: Drift])[]): Contests {
  return flips.reduce<Contests>(
    (contests, [second, drift]) => noteFlips(contests, [drift], second * 1_000, rules),
    new Map(),
  );
}

/** Until which second the object is left, at a second. */
function leftUntil(contests: Contests, second: number): number | undefined {
  const [one] = contestsOver(contests, object, second * 1_000);
  return one?.until === undefined ? undefined : one.until / 1_000;
}

const same = [0, 1, 2].map((second) => [second, flip('5')] as const);

test('the same value by the same manager three times is a fight, and the field is left for a time', () => {
  assert.equal(leftUntil(after(...same.slice(0, 2)), 1), undefined);
  assert.equal(leftUntil(after(...same), 2), 12);
  assert.equal(leftUntil(after(...same), 12), undefined);
  assert.deepEqual(contestsOver(after(...same), 'Service/orders', 2_000), []);
});

test('another manager in between, or too long between, is none', () => {
  assert.equal(
    leftUntil(after([0, flip('5')], [1, flip('5', 'anna')], [2, flip('5')], [3, flip('5', 'anna')]), 3),
    undefined,
  );
  assert.equal(leftUntil(after([0, flip('5')], [50, flip('5')], [61, flip('5')]), 61), undefined);
});

test('other values each time are a fight after four times as many', () => {
  const many = Array.from({ length: 12 }, (_, second) => [second, flip(String(second))] as const);
  assert.equal(leftUntil(after(...many.slice(0, 11)), 10), undefined);
  assert.equal(leftUntil(after(...many), 11), 21);
});

test('two that write in turn are a fight after as many, and are left for twice as long when one comes back', () => {
  const turns = Array.from({ length: 14 }, (_, second) => [second, flip('5', second % 2 ? 'anna' : 'bernd')] as const);
  assert.equal(leftUntil(after(...turns.slice(0, 11)), 10), undefined);
  const fought = after(...turns.slice(0, 12));
  assert.equal(leftUntil(fought, 11), 21);
  assert.deepEqual(
    [...fought.values()].map(({ rivals }) => rivals),
    [['anna', 'bernd']],
  );
  assert.equal(leftUntil(after(...turns.slice(0, 12), [21, flip('5', 'bernd')]), 21), 41);
});

test('one who is let be by himself is not accused of what another did before', () => {
  const fought = after([0, flip('5', 'anna')], ...[1, 2, 3].map((second) => [second, flip('5')] as const));
  assert.equal(leftUntil(fought, 3), 13);
  assert.deepEqual(
    [...fought.values()].map(({ rivals }) => rivals),
    [['autoscaler']],
  );
});

test('who comes back after a rest is left for twice as long, up to an hour; who gives up is forgotten', () => {
  assert.equal(leftUntil(after(...same, [12, flip('5')]), 12), 32);
  const stubborn = Array.from({ length: 20 }, (_, day) => [12 + day * 3_601, flip('5')] as const);
  const patient = { ...rules, withinMs: 7_200_000 };
  const fought = stubborn.reduce<Contests>(
    (all, [at, one]) => noteFlips(all, [one], at * 1_000, patient),
    after(...same),
  );
  const last = stubborn.at(-1)?.[0] ?? 0;
  assert.equal(leftUntil(fought, last), last + 3_600);
  assert.equal(noteFlips(after(...same), [], 73_000, rules).size, 0);
});

test('who makes again what he has deleted does not hide that it is deleted again and again', () => {
  const live = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orders', managedFields: [{ manager: 'anna', operation: 'Update' as const }] },
  };
  const both = [deletion('Service', 'orders'), ...creation(live)];
  assert.equal(both.length, 2);
  const fought = [0, 1, 2].reduce<Contests>((all, at) => noteFlips(all, both, at * 1_000, rules), new Map());
  assert.deepEqual(
    [...fought.values()].map(({ rivals, rests }) => ({ rivals, rests })),
    [{ rivals: ['unknown'], rests: 1 }],
  );
});

/** The fights as another controller takes them up at a second. */
const handedOver = (contests: Contests, second: number): Contests =>
  contestsOf(JSON.parse(JSON.stringify(fightsOf(contests))), second * 1_000);

test('another controller leaves what is left, and fights no rival anew', () => {
  const fought = handedOver(after(...same), 3);
  assert.equal(leftUntil(fought, 3), 12);
  assert.equal(leftUntil(noteFlips(fought, [flip('5')], 12_000, rules), 12), 32);
  assert.equal(leftUntil(noteFlips(fought, [flip('5', 'anna')], 12_000, rules), 12), undefined, 'another one is none');
  assert.equal(JSON.stringify(fightsOf(fought)), JSON.stringify(fightsOf(after(...same))));
});

test('of two that write in turn both are known to another controller, whoever comes back first', () => {
  const turns = Array.from({ length: 12 }, (_, second) => [second, flip('5', second % 2 ? 'anna' : 'bernd')] as const);
  for (const manager of ['anna', 'bernd']) {
    const again = noteFlips(handedOver(after(...turns), 12), [flip('5', manager)], 21_000, rules);
    assert.equal(leftUntil(again, 21), 41);
    assert.deepEqual(
      [...again.values()].map(({ rivals }) => rivals),
      [['anna', 'bernd']],
    );
  }
});

test('what is no fight yet, and none at all, is not kept', () => {
  assert.deepEqual(fightsOf(after(...same.slice(0, 2))), []);
  assert.deepEqual(contestsOf(undefined, 0), new Map());
});

test('whatever somebody writes in the place of the fights, nothing is left for longer than an hour', () => {
  const [fight] = fightsOf(after(...same));
  const kept = [
    [{ ...fight, until: Number.MAX_SAFE_INTEGER, rests: 9e15 }],
    [{ ...fight, until: 1e300 }, { ...fight, rivals: [] }, { ...fight, rests: 0 }, null, 7, [], {}],
    { fight },
    [{ ...fight, drift: { object } }],
    'no fights',
  ];
  const ends = kept.map((one) => leftUntil(contestsOf(one, 3_000), 3));
  assert.deepEqual(ends, [3_603, undefined, undefined, undefined, undefined]);
});
