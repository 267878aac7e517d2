import assert from 'node:assert/strict';
import test from 'node:test';
import { nextStep, type Step } from '../../../controller/rollout/step.ts';
import type { Observation } from '../../../controller/rollout/index.ts';
import { members } from './given.ts';

const leader = { isLeader: true } as const;
const old = { need: 'replacement' } as const;
const waiting = { need: 'restart' } as const;

const rows: readonly (readonly [what: string, seen: Observation, step: string])[] = [
  ['all as the spec says', members(leader, {}), 'done'],
  ['a template that Kubernetes has not taken in', { ...members(leader, old), isObserved: false }, 'wait NotObserved'],
  [
    'a template that the StatefulSet does not have',
    { ...members({ ...leader, ...old }, old, { ...old, health: 'stuck' }), hasTemplate: false },
    'wait NotApplied',
  ],
  ['settings go on meanwhile', { ...members(leader, waiting), hasTemplate: false }, 'restart orders-1'],
  ['Patroni is paused', { ...members(leader, old), isPaused: true }, 'wait Paused'],
  ['replicas of the old template: the last goes first', members({ ...leader, ...old }, old, old), 'replace orders-2'],
  ['the primary is the last member', members(old, old, { ...leader, ...old }), 'replace orders-1'],
  ['a member is missing', members({ ...leader, ...old }, old, { health: 'absent' }), 'wait MemberMissing'],
  ['a member is on its way', members({ ...leader, ...old }, old, { health: 'working' }), 'wait MemberMissing'],
  [
    'a member does not start from the old template',
    members({ ...leader, ...old }, old, { ...old, health: 'stuck' }),
    'replace orders-2',
  ],
  [
    'a member of the old template gets nowhere',
    members({ ...leader, ...old }, old, { ...old, health: 'working', isOverdue: true }),
    'replace orders-2',
  ],
  [
    'a member of the new template gets nowhere',
    members({ ...leader, ...old }, old, { health: 'working', isOverdue: true }),
    'wait MemberMissing',
  ],
  [
    'a member does not start from the new template',
    members({ ...leader, ...old }, old, { health: 'stuck' }),
    'wait MemberStuck',
  ],
  [
    'a container beside the server of one fails, while another one is on its way',
    members({ ...leader, ...old }, { health: 'working' }, { ...old, health: 'stuck', serves: true }),
    'wait MemberMissing',
  ],
  [
    'it does, while another one does not start from the old template',
    members({ ...leader, ...old }, { ...old, health: 'stuck' }, { ...old, health: 'stuck', serves: true }),
    'replace orders-1',
  ],
  [
    'it does, and all others serve',
    members({ ...leader, ...old }, old, { ...old, health: 'stuck', serves: true }),
    'replace orders-2',
  ],
  [
    'the primary cannot go on from the old template, leads, and a member is missing',
    members({ ...old, isPrimary: true, health: 'stuck', serves: true }, old, { health: 'absent' }),
    'switchover orders-0 to orders-1',
  ],
  [
    'the same, and no other member serves',
    members({ ...old, isPrimary: true, health: 'stuck', serves: true }, { health: 'working' }),
    'wait MemberMissing',
  ],
  [
    'the primary cannot go on from the old template, and leads',
    members({ ...old, isPrimary: true, health: 'stuck' }, old, { ...old, isCaughtUp: false }),
    'switchover orders-0 to orders-1',
  ],
  [
    'it does, and is asked to hand over',
    { ...members({ ...old, isPrimary: true, health: 'stuck' }, old), isSwitching: true },
    'wait SwitchingOver',
  ],
  [
    'it does, and a replica cannot start either',
    members({ ...old, isPrimary: true, health: 'stuck' }, old, { ...old, health: 'stuck' }),
    'replace orders-2',
  ],
  [
    'it does, and no replica has caught up',
    members({ ...old, isPrimary: true, health: 'stuck' }, { ...old, isCaughtUp: false }),
    'wait CatchingUp',
  ],
  [
    'the primary cannot start, and nobody streams',
    members({ ...old, isPrimary: true, health: 'stuck' }, { ...old, health: 'working' }),
    'replace orders-0',
  ],
  [
    'what was the primary cannot start, and another one leads',
    members({ ...old, isPrimary: true, health: 'stuck' }, { ...leader, ...old }),
    'replace orders-0',
  ],
  ['the renewed one lags', members({ ...leader, ...old }, old, { isCaughtUp: false }), 'wait CatchingUp'],
  ['the one to be renewed lags', members({ ...leader, ...old }, { ...old, isCaughtUp: false }, {}), 'replace orders-1'],
  ['only the primary is left', members({ ...leader, ...old }, {}, {}), 'switchover orders-0 to orders-1,orders-2'],
  ['one of the replicas lags', members({ ...leader, ...old }, {}, { isCaughtUp: false }), 'wait CatchingUp'],
  ['the primary hands over', { ...members({ ...leader, ...old }, {}), isSwitching: true }, 'wait SwitchingOver'],
  ['nobody leads', members(old, old), 'wait NoLeader'],
  ['the only member', members({ ...leader, ...old }), 'replace orders-0'],
  ['settings of a replica wait for a restart', members({ ...leader, ...waiting }, waiting), 'restart orders-1'],
  ['it was asked to restart', members({ ...leader, ...waiting }, { ...waiting, isAsked: true }), 'wait Restarting'],
  ['settings of the only member', members({ ...leader, ...waiting }), 'restart orders-0'],
  ['settings of the primary are left', members({ ...leader, ...waiting }, {}), 'switchover orders-0 to orders-1'],
  [
    'lower settings that a standby follows',
    members({ ...leader, ...waiting, isLowered: true }, waiting),
    'restart orders-0',
  ],
  [
    'lower settings, and one that only the new template takes',
    members({ ...leader, ...old, isLowered: true, refused: { jit: 'no' } }, old),
    'replace orders-1',
  ],
  [
    'the same when the replicas are of the new template',
    members({ ...leader, ...old, isLowered: true, refused: { jit: 'no' } }, { ...waiting, isLowered: true }),
    'switchover orders-0 to orders-1',
  ],
  ['a member has not read the settings', members({ ...leader, hasRead: false }, old), 'wait SettingsUnread'],
  ['a value is refused', members({ ...leader, refused: { jit: 'no' } }, old), 'wait SettingsRefused'],
  [
    'a value is refused by members that are to be renewed',
    members({ ...leader, ...old, refused: { jit: 'no' } }, { ...old, refused: { jit: 'no' } }),
    'replace orders-1',
  ],
];

for (const [what, seen, expected] of rows) {
  test(`${what}: ${expected}`, () => {
    const step = nextStep(seen);
    assert.equal(inWords(step), expected);
    if ('message' in step) assert.match(step.message, /^[A-Zo].*\.$/);
  });
}

function inWords(step: Step): string {
  switch (step.kind) {
    case 'done':
      return 'done';
    case 'wait':
      return `wait ${step.why}`;
    case 'switchover':
      return `switchover ${step.from} to ${step.candidates.join(',')}`;
    case 'replace':
    case 'restart':
      return `${step.kind} ${step.member}`;
  }
}

test('a replica is only taken down as one: it may have become the primary meanwhile', () => {
  const isReplica = (seen: Observation): boolean => {
    const step = nextStep(seen);
    return step.kind === 'replace' && step.isReplica;
  };
  assert.equal(isReplica(members(leader, old)), true);
  assert.equal(isReplica(members({ ...leader, ...old })), false);
  // Its lock is of before where nobody streams from it; where somebody does, it may be the one who leads.
  assert.equal(isReplica(members({ ...old, health: 'stuck' }, { health: 'working' })), false);
  assert.equal(isReplica(members({ ...old, health: 'stuck' }, leader)), false);
  assert.equal(isReplica(members({ ...old, health: 'stuck' }, {})), true);
});

const renewed = { need: 'replacement', isRenewal: true } as const;
const sentences: readonly (readonly [seen: Observation, message: string])[] = [
  [members(leader, old), 'orders-1 is made again from the new template: it is a replica.'],
  [members(leader, renewed), 'orders-1 is made again, as plumbline.dev/restarted-at asks: it is a replica.'],
  [
    members(leader, { ...renewed, health: 'stuck' }),
    'orders-1 is made again, as plumbline.dev/restarted-at asks: it does not start.',
  ],
];

for (const [seen, message] of sentences) {
  test(`it is told why a member is made again: ${message}`, () => {
    const step = nextStep(seen);
    assert.equal('message' in step && step.message, message);
  });
}
