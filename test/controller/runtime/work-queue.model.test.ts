import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WorkQueue } from '../../../controller/runtime/work-queue.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const priority = fc.constantFrom(-100, 0, 0, 10);
const delay = fc.constantFrom(0, 1, 7, 1000);
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key, priority }),
    fc.record({ kind: fc.constant('addAfter' as const), key, priority, delay }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('done' as const), key }),
    fc.record({ kind: fc.constant('advance' as const), delay }),
  ),
  // Without a size, fast-check stops at ten.
  { maxLength: 80, size: 'max' },
);

interface Wanted {
  priority: number;
  readyAt: number;
  /** The step in which the key became ready in this class, or undefined while it can't be taken. */
  readySince: number | undefined;
}

/** What the queue should do, as slowly and plainly as can be. */
class Model {
  readonly wanted = new Map<string, Wanted>();
  readonly running = new Set<string>();
  #step = 0;

  want(key: string, priority: number, readyAt: number, now: number): void {
    const known = this.wanted.get(key);
    if (known === undefined) {
      this.wanted.set(key, { priority, readyAt, readySince: undefined });
    } else {
      if (priority > known.priority) known.readySince = undefined;
      known.priority = Math.max(known.priority, priority);
      known.readyAt = Math.min(known.readyAt, readyAt);
    }
    this.settle(now);
  }

  settle(now: number): void {
    const due = [...this.wanted].filter(
      ([key, wanted]) => wanted.readySince === undefined && wanted.readyAt <= now && !this.running.has(key),
    );
    this.#step++;
    for (const [, wanted] of due) wanted.readySince = this.#step;
  }

  candidates(): [string, Wanted & { readySince: number }][] {
    return [...this.wanted].flatMap(([key, { priority, readyAt, readySince }]) =>
      readySince === undefined ? [] : [[key, { priority, readyAt, readySince }]],
    );
  }
}

test('whatever is added, taken, finished and waited for: one run per key, nothing lost, nothing twice, best first', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const clock = new VirtualClock(0);
      const queue = new WorkQueue({ clock });
      const model = new Model();
      for (const step of steps) {
        await perform(step, queue, model, clock);
        assert.equal(queue.stats.ready, model.candidates().length);
        assert.equal(queue.stats.running, model.running.size);
      }
      // Whatever is left comes out in the end, each key once.
      for (const key of model.running) queue.done(key);
      model.running.clear();
      await clock.advance(1000);
      const rest = new Set<string>();
      while (queue.stats.ready > 0) {
        const key = await queue.get();
        assert.ok(key !== undefined && !rest.has(key));
        rest.add(key);
      }
      assert.deepEqual([...rest].sort(), [...model.wanted.keys()].sort());
      assert.equal(queue.stats.delayed, 0);
    }),
    { numRuns: 300 },
  );
});

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

async function perform(step: Step, queue: WorkQueue, model: Model, clock: VirtualClock): Promise<void> {
  switch (step.kind) {
    case 'add':
      queue.add(step.key, { priority: step.priority });
      return model.want(step.key, step.priority, clock.now(), clock.now());
    case 'addAfter':
      queue.addAfter(step.key, step.delay, { priority: step.priority });
      return model.want(step.key, step.priority, clock.now() + step.delay, clock.now());
    case 'take':
      return take(queue, model);
    case 'done':
      queue.done(step.key);
      model.running.delete(step.key);
      return model.settle(clock.now());
    case 'advance':
      await clock.advance(step.delay);
      return model.settle(clock.now());
  }
}

async function take(queue: WorkQueue, model: Model): Promise<void> {
  const candidates = model.candidates();
  if (candidates.length === 0) return;
  const taken = await queue.get();
  const found = candidates.find(([key]) => key === taken);
  assert.ok(found !== undefined, `${taken} was not to be had`);
  for (const [, other] of candidates) {
    const [, best] = found;
    assert.ok(other.priority <= best.priority, 'a higher priority was passed over');
    assert.ok(other.priority < best.priority || other.readySince >= best.readySince, 'an earlier key was passed over');
  }
  model.wanted.delete(found[0]);
  model.running.add(found[0]);
}
