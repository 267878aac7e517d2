import assert from 'node:assert/strict';
import test from 'node:test';
import { creationPriority, startUpPriority } from '../../controller/priorities.ts';
import { monotonicClock } from '../../controller/kube/index.ts';
import { WorkQueue } from '../../controller/runtime/work-queue.ts';

test('what was there at the start waits for no creation, however often its pods wake it, and an edit for neither', async () => {
  // GIVEN
  const queue = new WorkQueue({ clock: monotonicClock });
  for (const key of ['new-a', 'new-b']) queue.add(key, { priority: creationPriority });
  queue.add('old', { priority: startUpPriority });
  queue.add('edited');
  // WHEN each that is being made is woken while it is worked
  const worked: string[] = [];
  while (worked.length < 5) {
    const key = (await queue.get()) ?? '';
    worked.push(key);
    if (key.startsWith('new')) queue.add(key, { priority: creationPriority });
    queue.done(key);
  }
  queue.shutDown();
  // THEN
  assert.deepEqual(worked, ['edited', 'old', 'new-a', 'new-b', 'new-a']);
});
