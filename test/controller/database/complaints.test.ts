import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inquire } from '../../../controller/database/complaints.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import type { Unexplained } from '../../../controller/health/trouble.ts';
import { KubeError, type Kube, type KubeObject } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const set: Unexplained = { kind: 'StatefulSet', name: 'orders' };
const event = (type: string, message: string, lastTimestamp: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: message },
  type,
  reason: 'FailedCreate',
  message,
  lastTimestamp,
});

/** An API server that has some Events, or answers with an error. */
class Given {
  readonly clock = new VirtualClock();
  readonly memory = newMemory('1');
  readonly asked: string[] = [];
  events: readonly KubeObject[] = [];
  error: Error | undefined;

  inquire(target: Unexplained | undefined): Promise<number | undefined> {
    const list: Kube['list'] = (_, options) => this.#list(options?.fieldSelector ?? '') as never;
    const kube = { list } as Kube;
    const options = { kube, clock: this.clock, lookAgainMs: 15_000 };
    return inquire(target, 'shop', this.memory, options, new AbortController().signal);
  }

  async *#list(fieldSelector: string) {
    this.asked.push(fieldSelector);
    if (this.error !== undefined) throw this.error;
    yield { items: this.events, resourceVersion: '1' };
  }

  get messages(): readonly string[] {
    return this.memory.inquiry?.complaints.map(({ message }) => message) ?? [];
  }
}

test('what was just made is given a moment; then its Events are asked for, now and then', async () => {
  const given = new Given();
  assert.equal(await given.inquire(set), 3_000);
  assert.deepEqual(given.asked, []);

  given.events = [event('Warning', 'b', '2026-01-01T00:00:02Z'), event('Warning', 'a', '2026-01-01T00:00:03Z')];
  await given.clock.advance(3_000);
  assert.equal(await given.inquire(set), 15_000);
  assert.deepEqual(given.asked, ['involvedObject.kind=StatefulSet,involvedObject.name=orders']);
  assert.deepEqual(given.messages, ['a', 'b']);

  await given.clock.advance(5_000);
  assert.equal(await given.inquire(set), 10_000);
  assert.equal(given.asked.length, 1);
});

test('what was said before the last success is over', async () => {
  const given = new Given();
  given.events = [
    event('Warning', 'old', '2026-01-01T00:00:01Z'),
    event('Normal', 'made', '2026-01-01T00:00:02Z'),
    event('Warning', 'new', '2026-01-01T00:00:02Z'),
  ];
  await given.inquire(set);
  await given.clock.advance(3_000);
  await given.inquire(set);
  assert.deepEqual(given.messages, ['new']);
});

test('where nothing is stuck nothing is asked, and what was said is forgotten', async () => {
  const given = new Given();
  given.events = [event('Warning', 'a', '2026-01-01T00:00:01Z')];
  await given.inquire(set);
  await given.clock.advance(3_000);
  await given.inquire(set);
  assert.equal(await given.inquire(undefined), undefined);
  assert.deepEqual([given.asked.length, given.messages], [1, []]);
});

test('without the right to read Events only the explanation is missing', async () => {
  const given = new Given();
  const tried = { verb: 'list', kind: 'Event', object: 'shop' };
  given.error = new KubeError({ tried, message: 'forbidden', status: 403, reason: 'Forbidden' });
  await given.inquire(set);
  await given.clock.advance(3_000);
  assert.equal(await given.inquire(set), 15_000);
  assert.deepEqual(given.messages, []);
});
