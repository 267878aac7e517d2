import assert from 'node:assert/strict';
import test from 'node:test';
import { absenceBy, isOver } from '../../../controller/database/planned-absence.ts';
import type { Action, Observation } from '../../../controller/rollout/index.ts';
import { members } from '../rollout/given.ts';

const leader = { isLeader: true } as const;
const message = '';
const replace: Action = { kind: 'replace', member: 'orders-1', isReplica: true, message };
const restart: Action = { kind: 'restart', member: 'orders-1', isReplica: true, token: 't', message };
const switchover: Action = { kind: 'switchover', from: 'orders-0', candidates: ['orders-1'], isOpen: true, message };
const gone = { health: 'absent' } as const;
const asking = { ...members(leader, {}), isSwitching: true };

const rows: readonly (readonly [what: string, step: Action, seen: Observation, uid: string, isOver: boolean])[] = [
  ['a watch that still shows the pod that was deleted', replace, members(leader, {}), 'old', false],
  ['a pod that is away', replace, members(leader, gone), '', false],
  ['a pod that starts', replace, members(leader, { health: 'working' }), 'new', false],
  ['a pod that is there again', replace, members(leader, {}), 'new', true],
  ['a member that the spec has taken away', replace, members(leader), '', true],
  ['a server that has yet to restart', restart, members(leader, { need: 'restart' }), 'old', false],
  ['a server that restarts', restart, members(leader, { health: 'working' }), 'old', false],
  ['a server that has restarted', restart, members(leader, {}), 'old', true],
  ['a primary that is asked to hand over', switchover, asking, '', false],
  [
    'a primary that has given up and has no heir yet',
    switchover,
    { ...asking, ...members({}, {}), isSwitching: true },
    '',
    false,
  ],
  ['an old primary that is not a replica yet', switchover, members({ health: 'working' }, leader), '', false],
  ['an old primary that is a replica', switchover, members({}, leader), '', true],
  ['a switchover that did not come', switchover, members(leader, {}), '', true],
];

for (const [what, step, seen, uid, expected] of rows) {
  test(`${what}: the absence is ${expected ? 'over' : 'not over'}`, () => {
    assert.equal(isOver(absenceBy(step, members(leader, {}), 'old'), seen, uid), expected);
  });
}

test('the others are those that were healthy, and whose turn it is may be the primary', () => {
  const seen = members(leader, {}, gone);
  const { others, isPrimary } = absenceBy(replace, seen, 'old');
  assert.deepEqual([others, isPrimary], [1, false]);
  assert.deepEqual(absenceBy({ ...replace, isReplica: false }, members(leader), 'old').isPrimary, true);
  assert.deepEqual(
    [absenceBy(switchover, seen, '').member, absenceBy(switchover, seen, '').isPrimary],
    ['orders-0', true],
  );
});
