import assert from 'node:assert/strict';
import test from 'node:test';
import { explore } from './explore.ts';
import { moves, rashMoves, type Move } from './moves.ts';
import { isAtEnd, peace, type Faults, type World } from './world.ts';

/** What the controller must never do. Undefined for a move that it may make. */
function violation(world: World, { step }: Move): string | undefined {
  const isUp = (i: number): boolean => ['up', 'behind'].includes(world.pods[i]?.state ?? 'gone');
  if (step?.kind !== 'replace') return undefined;
  const member = Number(step.member);
  const others = world.pods.map((_, i) => i).filter((i) => i !== member);
  if (world.pods[member]?.state === 'gone') return 'a member is taken down twice for one cause';
  if (isUp(member) && !others.every(isUp)) return 'a healthy member is taken down while another is missing';
  return world.leader === member && isUp(member) && others.length > 0 ? 'the primary is taken down' : undefined;
}

const searches: readonly (readonly [members: number, faults: Faults])[] = [
  [1, { crashes: 1, changes: 2, restarts: 0, refusals: 0, blindness: 0 }],
  [2, { crashes: 1, changes: 2, restarts: 0, refusals: 0, blindness: 1 }],
  [3, { crashes: 1, changes: 1, restarts: 1, refusals: 1, blindness: 1 }],
];

test('in every order of events a rollout takes no second member down, never the primary, and comes to its end', (t) => {
  let states = 0;
  for (const [members, faults] of searches) {
    const found = explore(peace(members, faults), { moves, violation, isAtEnd });
    assert.equal(found.problem, undefined);
    t.diagnostic(`${members} members: ${found.states} states`);
    states += found.states;
  }
  assert(states > 100_000, `${states}`);
});

test('the search finds a controller that acts on what it saw some time ago', () => {
  const faults = { crashes: 1, changes: 1, restarts: 0, refusals: 0, blindness: 1 };
  const { problem } = explore(peace(3, faults), { moves: rashMoves, violation, isAtEnd });
  assert.match(problem ?? '', /a healthy member is taken down while another is missing/);
});
