import assert from 'node:assert/strict';
import test from 'node:test';
import { explore } from './explore.ts';
import type { Step } from '../../../controller/rollout/index.ts';
import { moves, rashMoves, type Move } from './moves.ts';
import { isAtEnd, isLed, level, peace, serves, type Faults, type World } from './world.ts';

/** What the controller must never do. Undefined for a move that it may make. */
function violation(world: World, { step, to }: Move): string | undefined {
  const isLeaderToGo = world.leader !== undefined && world.leader >= to.pods.length;
  if (isLeaderToGo && isLed(world)) return 'the primary goes with members that are too many';
  const isUp = (i: number): boolean => world.pods[i] !== undefined && serves(world.pods[i]);
  if (step?.kind === 'switchover') return lossOfSlot(world, step);
  if (step?.kind !== 'replace' && step?.kind !== 'restart') return undefined;
  const member = Number(step.member);
  const others = world.pods.map((_, i) => i).filter((i) => i !== member);
  const { state, asked, template, renewal, settings = 0 } = world.pods[member] ?? {};
  // What the StatefulSet would make again as it is.
  const isNew = template === world.template && renewal === world.stated;
  const isTwice = step.kind === 'restart' ? asked === world.settings : isNew;
  if (state === 'gone' || isTwice) return 'a member is taken down twice for one cause';
  if (isUp(member) && !others.every(isUp)) return 'a member that serves is taken down while another is missing';
  if (world.leader !== member) return undefined;
  // Standbys must have it as high as their primary: it goes first.
  if (step.kind === 'restart' && level(world.settings) < level(settings)) return undefined;
  return isUp(member) && others.length > 0 ? 'the primary is taken down' : undefined;
}

function lossOfSlot(
  { pods, leader = 0, isGivenUp }: World,
  step: Extract<Step, { kind: 'switchover' }>,
): string | undefined {
  if (pods[leader]?.slot !== 'own' || isGivenUp) return undefined;
  const others = pods.map((_, i) => i).filter((i) => i !== leader);
  const heirs = step.isOpen ? others : step.candidates.map(Number);
  return heirs.some((i) => pods[i]?.slot !== 'synced') ? 'a logical slot is lost' : undefined;
}

const searches: readonly (readonly [members: number, faults: Faults])[] = [
  [1, { crashes: 1, changes: 2, restarts: 0, refusals: 0, blindness: 0, settings: 0, slots: 0 }],
  [2, { crashes: 1, changes: 2, restarts: 0, refusals: 0, blindness: 1, settings: 0, slots: 0 }],
  [3, { crashes: 1, changes: 1, restarts: 1, refusals: 1, blindness: 1, settings: 0, slots: 0 }],
  [1, { crashes: 1, changes: 0, restarts: 0, refusals: 0, blindness: 0, settings: 2, slots: 0 }],
  [2, { crashes: 1, changes: 1, restarts: 0, refusals: 0, blindness: 0, settings: 1, slots: 0 }],
  [3, { crashes: 1, changes: 0, restarts: 1, refusals: 1, blindness: 1, settings: 1, slots: 0 }],
  [1, { crashes: 1, changes: 1, restarts: 0, refusals: 0, blindness: 0, settings: 0, slots: 0, renewals: 2 }],
  [2, { crashes: 1, changes: 1, restarts: 0, refusals: 0, blindness: 1, settings: 0, slots: 0, renewals: 1 }],
  [3, { crashes: 1, changes: 0, restarts: 1, refusals: 1, blindness: 1, settings: 0, slots: 0, renewals: 1 }],
];

test('in every order of events a rollout takes no second member down, never the primary, and comes to its end', (t) => {
  let states = 0;
  for (const [members, faults] of searches) {
    const found = explore(peace(members, faults), { moves, violation, isAtEnd });
    assert.equal(found.problem, undefined);
    t.diagnostic(`${members} members: ${found.states} states, ${JSON.stringify(faults)}`);
    states += found.states;
  }
  assert(states > 100_000, `${states}`);
});

test('the search finds a controller that acts on what it saw some time ago', () => {
  const faults = { crashes: 1, changes: 1, restarts: 0, refusals: 0, blindness: 1, settings: 0, slots: 0 };
  const { problem } = explore(peace(3, faults), { moves: rashMoves, violation, isAtEnd });
  assert.match(problem ?? '', /a member that serves is taken down while another is missing/);
});

for (const slotsEnd of ['synced', 'dropped', 'given up'] as const) {
  test(`in every order of events no logical slot is lost by a switchover of ours, and once it is ${slotsEnd} the end comes`, (t) => {
    for (const members of [2, 3]) {
      const faults = {
        crashes: 1,
        changes: 1,
        restarts: 0,
        refusals: 0,
        blindness: members === 2 ? 1 : 0,
        settings: 0,
        slots: 1,
      };
      const { problem, states } = explore(peace(members, faults, slotsEnd), { moves, violation, isAtEnd });
      assert.equal(problem, undefined);
      t.diagnostic(`${members} members: ${states} states`);
    }
  });
}

test('the search finds a switchover that loses a logical slot', () => {
  const onlySlots: typeof violation = (world, { step }) =>
    step?.kind === 'switchover' ? lossOfSlot(world, step) : undefined;
  const faults = { crashes: 0, changes: 1, restarts: 0, refusals: 0, blindness: 1, settings: 0, slots: 1 };
  const { problem } = explore(peace(2, faults), { moves: rashMoves, violation: onlySlots, isAtEnd });
  assert.match(problem ?? '', /a logical slot is lost/);
});
