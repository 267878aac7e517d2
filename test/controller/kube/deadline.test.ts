import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { untilAborted } from '../../../controller/kube/deadline.ts';

const over = new Error('over');

for (const when of ['before', 'while'] as const) {
  test(`what fails after its caller has given up ${when} waiting is no rejection that nobody handles`, async () => {
    // GIVEN
    const abort = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    if (when === 'before') abort.abort(over);
    const waits = assert.rejects(untilAborted(promise, abort.signal), over);
    abort.abort(over);
    await waits;

    // WHEN it fails, the test runner, which fails a test for each unhandled rejection, hears of nothing
    reject(new Error('late'));
    await setImmediate();
  });
}
