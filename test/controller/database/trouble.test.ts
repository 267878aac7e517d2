import assert from 'node:assert/strict';
import test from 'node:test';
import { nothingDone, type Outcome } from '../../../controller/database/delivery.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import { withoutShort } from '../../../controller/database/trouble.ts';

const refused = 'Service/shop/orders';
const other = 'PodDisruptionBudget/shop/orders';
const outcome = (next: 'retry' | 'look-again'): Outcome => ({
  ...nothingDone,
  left: new Map([refused, other].map((key) => [key, []])),
  refused: new Set([refused]),
  blocker: {
    reason: 'ApiUnreachable',
    isStalled: false,
    message: '',
    next: next === 'retry' ? { kind: next, error: new Error('500') } : { kind: next },
  },
});

const rows = [
  { what: 'the server fails for the first time', next: 'retry', since: undefined, isTold: false },
  { what: 'it has failed for a second', next: 'retry', since: 9_000, isTold: false },
  { what: 'it has failed for longer', next: 'retry', since: 8_000, isTold: true },
  { what: 'it refuses', next: 'look-again', since: undefined, isTold: true },
  { what: 'it refuses as soon as it answers again', next: 'look-again', since: 1_000, isTold: false },
] as const;

for (const { what, next, since, isTold } of rows) {
  test(`${what}: what could not be put back is ${isTold ? 'told' : 'not told yet'}`, () => {
    const memory = { ...newMemory('uid'), troubledSince: since };
    const { left, refused: kept } = withoutShort(outcome(next), memory, 10_000);
    assert.deepEqual([...left.keys()], isTold ? [refused, other] : [other]);
    assert.equal(kept.has(refused), isTold);
  });
}
