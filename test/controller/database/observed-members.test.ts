import assert from 'node:assert/strict';
import test from 'node:test';
import { advancesOf, noAdvances, type Advances } from '../../../controller/database/advances.ts';
import { observedMembers } from '../../../controller/database/observed-members.ts';
import type { Member } from '../../../controller/rollout/index.ts';
import { nextStep } from '../../../controller/rollout/step.ts';
import { resource, seen } from './given.ts';
import { memberPod, memberSet, type MemberPod } from './member-pods.ts';

const database = resource({ replicas: 2 });
const minute = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');

/** The replica as it is seen in the end, when it was looked at once a minute since it was made. */
function replica(...looks: readonly MemberPod[]): Member | undefined {
  let advances: Advances = noAdvances;
  let found: readonly Member[] = [];
  looks.forEach((look, i) => {
    const objects = [memberSet(database), memberPod(database, 0, { isPrimary: true }), memberPod(database, 1, look)];
    const children = objects.map((object) => seen(object));
    advances = advancesOf(advances, children, start + i * minute);
    found = observedMembers(database, children, database.spec, advances).members;
  });
  return found[1];
}

const says = (state: string, position?: number, more: object = {}): MemberPod => ({
  isReady: false,
  status: { state, xlog_location: position, replication_state: undefined, ...more },
});
const replays = (position: number): MemberPod => says('running', position);
const streams = (position: number): MemberPod => ({ status: { xlog_location: position } });

/** In minutes; undefined for one that is not idle. */
const rows: readonly (readonly [what: string, looks: readonly MemberPod[], idleFor: number | undefined])[] = [
  ['streams', [streams(1), streams(1), streams(1)], undefined],
  ['clones', [says('creating replica'), says('creating replica'), says('creating replica')], undefined],
  ['replays before its data is consistent', [says('starting'), says('starting')], undefined],
  ['replays after it', [replays(1), replays(2), replays(3)], 0],
  [
    'replays from an archive',
    [replays(1), says('running', 1, { replication_state: 'in archive recovery' })],
    undefined,
  ],
  ['has replayed what it has, and does not stream', [replays(1), replays(2), replays(2), replays(2)], 2],
  ['replays the same again and again', [replays(1), replays(2), says('starting'), replays(1), replays(2)], 3],
  ['was looked at for the first time when it had long been there', [replays(1)], 0],
  ['streamed until now, in a database that rests', [streams(5), streams(5), replays(5)], 0],
  ['streamed a minute ago', [streams(5), replays(5), replays(5)], 1],
  ['never came so far that Patroni spoke', [says(''), says(''), says('')], 2],
  ['lost its server while it was going on', [replays(1), replays(2), says('start failed')], 2],
];

const crashes: MemberPod = {
  isReady: false,
  status: { state: 'running' },
  containers: [
    {
      name: 'postgres',
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting failed container=postgres' } },
      lastState: { terminated: { reason: 'Error', exitCode: 127 } },
    },
  ],
};
const troubles: readonly (readonly [what: string, look: MemberPod, words: string | undefined])[] = [
  ['streams', streams(1), 'Patroni says running'],
  ['is not ready before Patroni spoke', says(''), undefined],
  ['has a server that does not start', says('start failed'), 'Patroni says start failed'],
  ['crashes', crashes, 'Container postgres of orders-1 ends again and again (Error, exit code 127): its log says why.'],
];

for (const [what, look, words] of troubles) {
  test(`what keeps a replica that ${what} is told in words for whoever mends it`, () => {
    assert.equal(replica(look)?.trouble, words);
  });
}

const steward = { name: 'steward', state: { waiting: { reason: 'CrashLoopBackOff' } } };
const failing = (ready: boolean): MemberPod => ({ isReady: false, containers: [{ name: 'postgres', ready }, steward] });
const holds = (reason: string): MemberPod => ({ isReady: false, gate: { reason, message: 'so it waits' } });
const healths: readonly (readonly [what: string, look: MemberPod, health: string, serves: boolean])[] = [
  ['streams', streams(1), 'healthy', true],
  ['streams beside a steward that crashes', failing(true), 'stuck', true],
  ['is down, as is its steward', failing(false), 'stuck', false],
  ['waits for the end of another container on its volume', holds('VolumeInUse'), 'working', false],
  ['finds foreign data', holds('ForeignData'), 'stuck', false],
];

for (const [what, look, health, serves] of healths) {
  test(`a replica that ${what} is ${health} and ${serves ? 'serves' : 'does not serve'}`, () => {
    const found = replica(look);
    assert.deepEqual([found?.health, found?.serves], [health, serves]);
  });
}

test('a replica that was cloning before its start gate holds it gets nowhere', () => {
  const look = { ...says('creating replica'), ...holds('VolumeInUse') };
  assert.notEqual(replica(look)?.idleSince, undefined);
});

for (const [what, looks, idleFor] of rows) {
  test(`a replica that ${what} has been getting nowhere for ${idleFor ?? 'no'} minutes`, () => {
    const since = replica(...looks)?.idleSince;
    assert.equal(since && (start + (looks.length - 1) * minute - since) / minute, idleFor);
  });
}

/** What a rollout sees of two members of an old template that both say that they are the primary. */
function primaries(...pods: readonly { readonly timeline: number; readonly ended?: object }[]) {
  const found = pods.map(({ timeline, ended }, ordinal) => {
    const pod = memberPod(database, ordinal, { isPrimary: true, template: 'old', status: { timeline } });
    return seen({ ...pod, status: { ...(pod['status'] as object), ...ended } });
  });
  return observedMembers(database, [seen(memberSet(database)), ...found], database.spec, noAdvances);
}

for (const ended of [
  { phase: 'Failed', reason: 'Terminated' },
  { phase: 'Failed', reason: 'Evicted' },
  { phase: 'Succeeded' },
]) {
  const words = Object.values(ended).join(', ');
  test(`cloudnative-pg/cloudnative-pg#1593: with a primary that says ${words} no step is made`, () => {
    const found = primaries({ timeline: 3, ended }, { timeline: 3 });
    assert.deepEqual(
      found.members.map(({ health, isLeader }) => [health, isLeader]),
      [
        ['leaving', false],
        ['healthy', true],
      ],
    );
    const step = nextStep({ ...found, isSwitching: false });
    assert.deepEqual([step.kind, 'why' in step && step.why], ['wait', 'MemberMissing']);
  });
}

test('of two that say that they are the primary, the one that was promoted last leads', () => {
  const leads = primaries({ timeline: 3 }, { timeline: 4 }).members.map(({ isLeader }) => isLeader);
  assert.deepEqual(leads, [false, true]);
});

test('the StatefulSet has the template that is delivered, or still the one before: what a GitOps tool has yet to apply', () => {
  const hasTemplate = (template?: string) =>
    observedMembers(database, [seen(memberSet(database, template))], database.spec, noAdvances).hasTemplate;
  assert.deepEqual([hasTemplate(), hasTemplate('old')], [true, false]);
});
const asked = resource({ replicas: 2 }, { annotations: { 'plumbline.dev/restarted-at': 'noon' } });
const before = (restartedAt?: string): MemberPod => ({ restartedAt });

/** What each of two members needs, and whether the StatefulSet is as far as that. */
function needs(of: typeof database, set: typeof database, ...pods: readonly [MemberPod, MemberPod]) {
  const [first, second] = pods;
  const objects = [memberSet(set), memberPod(of, 0, { isPrimary: true, ...first }), memberPod(of, 1, second)];
  const children = objects.map((object) => seen(object));
  const { hasTemplate, members } = observedMembers(of, children, of.spec, noAdvances);
  return [hasTemplate, ...members.map(({ need, isRenewal }) => (isRenewal ? `${need}, as asked` : need))];
}

const renewal = 'replacement, as asked';
const requests: readonly (readonly [what: string, found: readonly unknown[], expected: readonly unknown[]])[] = [
  ['nobody asks', needs(database, database, {}, {}), [true, 'nothing', 'nothing']],
  ['somebody asks for the first time', needs(asked, asked, before(), before()), [true, renewal, renewal]],
  ['one was made since', needs(asked, asked, before('dawn'), before('noon')), [true, renewal, 'nothing']],
  ['all were', needs(asked, asked, {}, {}), [true, 'nothing', 'nothing']],
  [
    'what asked was taken away',
    needs(database, database, before('noon'), before('dawn')),
    [true, 'nothing', 'nothing'],
  ],
  ['the StatefulSet does not say so yet', needs(asked, database, before(), before()), [false, renewal, renewal]],
  [
    'one is of another template all the same',
    needs(asked, asked, { ...before(), template: 'old' }, {}),
    [true, 'replacement', 'nothing'],
  ],
];

for (const [what, found, expected] of requests) {
  test(`to have the members made again: ${what}`, () => {
    assert.deepEqual(found, expected);
  });
}
