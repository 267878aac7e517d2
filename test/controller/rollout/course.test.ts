import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredSpec } from '../../../constructs/api/spec.ts';
import { setCourse, type Course, type History, type Observation } from '../../../controller/rollout/index.ts';
import { revisionOf } from '../../../controller/rollout/revision.ts';
import { members } from './given.ts';

const leader = { isLeader: true } as const;
const healthy = members(leader, {}, {});
const missing = members(leader, {}, { health: 'absent' });
const noon = Date.parse('2026-01-01T12:00:00Z');

const spec = (image: string, more: Partial<StoredSpec> = {}): StoredSpec => ({
  engine: 'postgresql',
  version: '17',
  image,
  replicas: 3,
  storage: { size: '1Gi' },
  ...more,
});
const stable = (number: number, image: string, more: Partial<StoredSpec> = {}) => {
  const revision = revisionOf(spec(image, more));
  return { number, generation: number, time: '2026-01-01T00:00:00Z', revision };
};
const history: History = {
  released: revisionOf(spec('two')),
  stable: [stable(2, 'two'), stable(1, 'one')],
  refused: undefined,
};

function course(wanted: StoredSpec, seen: Observation, more: Partial<Parameters<typeof setCourse>[0]> = {}): Course {
  const times = { now: noon, patienceMs: 300_000, generation: 3 };
  const rest = { asked: undefined, isTakenBack: true, isManaged: true };
  return setCourse({ spec: wanted, history, observe: () => seen, ...times, ...rest, ...more });
}

test('a changed template waits for a member that is missing; everything else but its settings does not', () => {
  const wanted = spec('three', { replicas: 5 });
  const { spec: now, hold, history: kept } = course(wanted, missing);
  assert.deepEqual(now, { ...wanted, image: 'two' });
  assert.equal(hold, 'The change of the pods waits until orders-2 is back.');
  assert.equal(kept.released.template.image, 'two');
});

test('settings that change with a template come with it; those that change alone are in force at once', () => {
  const before = { ...history, released: revisionOf(spec('two', { parameters: { jit: 'off' } })) };
  const both = spec('three', { parameters: { shared_preload_libraries: 'pgaudit' } });
  const held = course(both, missing, { history: before });
  assert.deepEqual([held.spec.image, held.spec.parameters], ['two', { jit: 'off' }]);
  assert.deepEqual(held.history.released, before.released, 'what was in force stays, be it stable or not');
  const open = course(both, healthy, { history: held.history });
  assert.deepEqual([open.spec.image, open.spec.parameters], ['three', both.parameters]);
  assert.deepEqual(open.history.released, revisionOf(both));
  const alone = course(spec('two', { parameters: { work_mem: '8MB' } }), missing, { history: before });
  assert.deepEqual([alone.spec.parameters, alone.hold], [{ work_mem: '8MB' }, undefined]);
});

test('a changed template is released when all members are healthy, and first noted as released', () => {
  const { spec: now, hold, history: kept } = course(spec('three'), healthy);
  assert.deepEqual([now.image, hold, kept.released.template.image], ['three', undefined, 'three']);
});

test('a member that cannot start does not hold up the change that may cure it', () => {
  const stuck = members(leader, {}, { health: 'stuck' });
  assert.equal(course(spec('three'), stuck).spec.image, 'three');
});

test('where nothing was ever stable every change is released', () => {
  assert.equal(course(spec('three'), missing, { history: { ...history, stable: [] } }).spec.image, 'three');
  assert.equal(course(spec('three'), missing, { history: undefined }).spec.image, 'three');
});

const idle = members(leader, {}, { health: 'stuck', idleSince: noon, trouble: 'ImagePullBackOff' });
const tryingSince = (ms: number, wanted: StoredSpec): History => {
  const first = course(wanted, healthy, { now: noon }).history;
  return { ...first, trial: first.trial && { ...first.trial, since: new Date(noon + ms).toISOString() } };
};

test('a revision on which a member gets nowhere for too long is taken back, and not tried again', () => {
  const wanted = spec('bad', { parameters: { jit: 'off' }, replicas: 4 });
  const trying = tryingSince(0, wanted);
  const early = course(wanted, idle, { history: trying, now: noon + 299_000 });
  assert.deepEqual([early.spec.image, early.failsAt], ['bad', noon + 300_000]);
  const late = course(wanted, idle, { history: trying, now: noon + 300_000 });
  assert.deepEqual(late.spec, { ...spec('two'), replicas: 4 });
  assert.deepEqual(late.setback, { reason: 'RolloutFailed', message: 'orders-2 gets nowhere: ImagePullBackOff' });
  const after = course(wanted, healthy, { history: late.history });
  assert.deepEqual([after.target.kind, after.spec.image, after.setback], ['taken-back', 'two', undefined]);
  const corrected = course(spec('good'), healthy, { history: late.history });
  assert.deepEqual([corrected.target.kind, corrected.spec.image], ['spec', 'good']);
});

const trials: readonly (readonly [what: string, wanted: StoredSpec])[] = [
  ['a setting', spec('two', { parameters: { work_mem: '8MB' } })],
  ['an image', spec('three')],
];
const much = noon + 86_400_000;

for (const [what, wanted] of trials) {
  test(`${what} is not taken back for a member that got nowhere before it was tried`, () => {
    const trying = course(wanted, idle).history;
    const late = course(wanted, idle, { history: trying, now: much });
    assert.deepEqual([late.target.kind, late.setback, late.failsAt], ['spec', undefined, undefined]);
  });

  test(`${what} is taken back for it when it was healthy in between`, () => {
    const mended = course(wanted, healthy, { history: course(wanted, idle).history }).history;
    const late = course(wanted, idle, { history: mended, now: much });
    assert.deepEqual([late.target.kind, late.setback?.reason], ['taken-back', 'RolloutFailed']);
  });

  test(`${what} is taken back for another member beside it`, () => {
    const both = members(leader, { health: 'stuck', idleSince: noon }, { health: 'stuck', idleSince: noon });
    const late = course(wanted, both, { history: course(wanted, idle).history, now: much });
    assert.match(late.setback?.message ?? '', /^orders-1 gets nowhere/);
  });
}

test('whom one try has brought down counts in the next', () => {
  const first = course(spec('bad'), idle, { history: course(spec('bad'), healthy).history, now: noon }).history;
  const second = course(spec('worse'), idle, { history: first, now: noon }).history;
  assert.equal(course(spec('worse'), idle, { history: second, now: much }).setback?.reason, 'RolloutFailed');
});

test('whom a revision that was taken back has brought down counts when the next is tried', () => {
  const late = course(spec('bad'), idle, { history: tryingSince(0, spec('bad')), now: much });
  // As it is seen by what was stable, and by what is tried next.
  const broken = (by: StoredSpec) =>
    members(leader, {}, { health: 'stuck', idleSince: noon, need: by.image === 'two' ? 'replacement' : 'nothing' });
  const second = course(spec('worse'), healthy, { history: late.history, observe: broken, now: much }).history;
  const end = course(spec('worse'), idle, { history: second, now: much + 300_000 });
  assert.equal(end.setback?.reason, 'RolloutFailed');
});

test('the time counts from when the revision was delivered, not from when the member got stuck', () => {
  const wanted = spec('good');
  const trying = tryingSince(0, wanted);
  const before = {
    ...idle,
    members: idle.members.map((one) => ({ ...one, idleSince: one.idleSince && noon - 900_000 })),
  };
  assert.equal(course(wanted, before, { history: trying }).failsAt, noon + 300_000);
});

test('a member that clones or replays is never too slow', () => {
  const wanted = spec('good');
  const working = members(leader, {}, { health: 'working' });
  const late = course(wanted, working, { history: tryingSince(0, wanted), now: noon + 86_400_000 });
  assert.deepEqual([late.target.kind, late.setback], ['spec', undefined]);
});

test('a value that PostgreSQL refuses is taken back at once, in its words', () => {
  const wanted = spec('two', { parameters: { work_mem: 'banana' } });
  const refused = { work_mem: 'invalid value for parameter "work_mem": "banana"' };
  const found = course(wanted, members({ ...leader, refused }, {}, {}));
  assert.equal(found.spec.parameters, undefined);
  assert.match(found.history.refused?.message ?? '', /orders-0 refuses spec\.parameters\.work_mem: invalid value/);
  assert.equal(found.setback?.reason, 'ConfigurationRefused');
});

test('what a member of the old template refuses, the new image may have; what one of the new template refuses is taken back', () => {
  const wanted = spec('three', { parameters: { shared_preload_libraries: 'pgaudit' } });
  const refused = { shared_preload_libraries: 'could not access file "pgaudit"' };
  const old = { need: 'replacement', refused } as const;
  const trying = course(wanted, members({ ...leader, ...old }, old, old));
  assert.deepEqual([trying.target.kind, trying.setback, trying.spec.image], ['spec', undefined, 'three']);
  const renewed = members({ ...leader, ...old }, old, { refused });
  const back = course(wanted, renewed, { history: trying.history });
  assert.deepEqual([back.target.kind, back.setback?.reason], ['taken-back', 'ConfigurationRefused']);
  assert.match(back.setback?.message ?? '', /orders-2 refuses/);
});

test('what is taken back waits for nobody: any member that is made again is made from what was stable', () => {
  const wanted = spec('three', { parameters: { work_mem: 'banana' } });
  const trying = course(wanted, healthy).history;
  const refused = { work_mem: 'invalid value' };
  const found = course(wanted, members(leader, { health: 'working' }, { refused }), { history: trying });
  assert.deepEqual([found.spec, found.hold], [spec('two'), undefined]);
});

test('with rollback false a failure is told and left', () => {
  const wanted = spec('bad');
  const late = { history: tryingSince(0, wanted), now: noon + 300_000 };
  const found = course(wanted, idle, { ...late, isTakenBack: false });
  assert.deepEqual([found.spec.image, found.setback?.reason], ['bad', 'RolloutFailed']);
});

test('an annotation asks for an older revision; one that is not there changes nothing', () => {
  const older = course(spec('two'), healthy, { asked: '1' });
  assert.deepEqual([older.target.kind, older.spec.image], ['asked', 'one']);
  const unknown = course(spec('three'), healthy, { asked: '7' });
  assert.deepEqual([unknown.target.kind, unknown.spec.image], ['unknown', 'two']);
});

test('there are fewer members only when none of those that go is the primary', () => {
  const last = members({}, {}, leader);
  const { spec: now, before } = course(spec('two', { replicas: 1 }), last);
  assert.equal(now.replicas, 3);
  assert(before?.kind === 'switchover');
  assert.deepEqual([before.from, before.candidates], ['orders-2', ['orders-0']]);
  assert.equal(course(spec('two', { replicas: 1 }), healthy).spec.replicas, 1);
});

test('where Kubernetes renews the members nothing is held back or taken back', () => {
  const found = course(spec('bad'), missing, { isManaged: false, history: undefined });
  assert.deepEqual([found.spec.image, found.hold, found.setback], ['bad', undefined, undefined]);
});
