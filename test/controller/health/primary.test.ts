import assert from 'node:assert/strict';
import test from 'node:test';
import { memberState } from '../../../controller/health/member-state.ts';
import { primaryOf } from '../../../controller/health/primary.ts';
import { podFacts } from './given.ts';

const pod = (name: string, isReady: boolean, timeline?: number) => ({
  name,
  facts: podFacts({ isPrimary: true, isReady, member: memberState({ status: JSON.stringify({ timeline }) }) }),
});

for (const [what, pods, name] of [
  ['nobody says so', [{ name: 'a', facts: podFacts() }], undefined],
  ['one says so and is not ready', [pod('a', false, 1)], undefined],
  ['one says so, and not its timeline', [pod('a', true)], 'a'],
  ['one is cut off since another was promoted', [pod('a', true, 3), pod('b', true, 4)], 'b'],
  ['the other way round', [pod('a', true, 4), pod('b', true, 3)], 'a'],
  ['the one that was promoted last is not ready', [pod('a', true, 3), pod('b', false, 4)], 'a'],
] as const) {
  test(`when ${what}, the primary is ${name ?? 'unknown'}`, () => {
    assert.equal(primaryOf<{ readonly name: string } & ReturnType<typeof pod>>(pods)?.name, name);
  });
}
