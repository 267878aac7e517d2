import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { repairMs } from './repair-time.ts';

describe('how long a repair has taken', () => {
  for (const [name, moments, ms] of [
    ['it came after the answer', { changed: 100, answered: 103, repaired: 110 }, 7],
    ['the answer came before the watch showed the change', { answered: 100, changed: 101, repaired: 110 }, 10],
    ['it came before the answer', { changed: 100, repaired: 108, answered: 120 }, 8],
  ] as const) {
    test(name, () => assert.equal(repairMs(moments), ms));
  }
});
