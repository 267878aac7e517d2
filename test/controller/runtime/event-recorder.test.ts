import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CoreEvent, EventObject, EventPatch, Happening } from '../../../controller/runtime/core-event.ts';
import type { ErrorVerdict } from '../../../controller/runtime/error-verdict.ts';
import { EventRecorder, type EventSink } from '../../../controller/runtime/event-recorder.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { LogLines } from './log-lines.ts';

const orders: EventObject = {
  apiVersion: 'plumbline.dev/v1alpha1',
  kind: 'DatabaseService',
  namespace: 'shop',
  name: 'orders',
  uid: 'u-1',
};
const corrected: Happening = {
  type: 'Normal',
  reason: 'DriftCorrected',
  message: 'put back the image of StatefulSet orders',
};

function refusal(kind: string, errorClass: ErrorVerdict['class'] = 'wait-for'): Error {
  return Object.assign(new Error(kind), { verdict: { class: errorClass, kind } });
}

function classify(error: unknown): ErrorVerdict {
  if (error instanceof Error && 'verdict' in error) return error.verdict as ErrorVerdict;
  throw new Error('an error that nobody expected');
}

/** The Events of a cluster. */
class Events implements EventSink {
  readonly objects = new Map<string, CoreEvent>();
  readonly refusals: (Error | undefined)[] = [];
  /** Arrives, but the answer is lost. */
  loseNextAnswer = false;
  creates = 0;
  patches = 0;

  async create(event: CoreEvent): Promise<void> {
    this.creates++;
    this.#refuse();
    const key = `${event.metadata.namespace}/${event.metadata.name}`;
    if (this.objects.has(key)) throw refusal('already-exists', 'back-off');
    this.objects.set(key, event);
    if (this.loseNextAnswer) {
      this.loseNextAnswer = false;
      throw refusal('timeout', 'back-off');
    }
  }

  async patch(name: string, namespace: string, body: EventPatch): Promise<void> {
    this.patches++;
    this.#refuse();
    const known = this.objects.get(`${namespace}/${name}`);
    if (known === undefined) throw refusal('object-missing');
    this.objects.set(`${namespace}/${name}`, { ...known, ...body });
  }

  get all(): CoreEvent[] {
    return [...this.objects.values()];
  }

  #refuse(): void {
    const refused = this.refusals.shift();
    if (refused !== undefined) throw refused;
  }
}

function setUp(capacity?: number) {
  const clock = new VirtualClock();
  const events = new Events();
  const { log, lines } = new LogLines();
  const options = { sink: events, clock, log, classify, component: 'plumbline', instance: 'plumbline-0' };
  return {
    clock,
    events,
    lines,
    recorder: new EventRecorder(capacity === undefined ? options : { ...options, capacity }),
  };
}

describe('the event recorder', () => {
  test('an event says what happened to which object, when, and who says so', async () => {
    const { clock, events, recorder } = setUp();
    recorder.record(orders, corrected);
    await clock.settle();
    const [event] = events.all;
    assert.match(event?.metadata.name ?? '', /^orders\.[0-9a-f]+$/);
    assert.deepEqual(event, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: event?.metadata.name, namespace: 'shop' },
      involvedObject: orders,
      type: 'Normal',
      reason: 'DriftCorrected',
      message: 'put back the image of StatefulSet orders',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'plumbline' },
      reportingComponent: 'plumbline',
      reportingInstance: 'plumbline-0',
    });
  });

  test('recording is done before anything is sent', () => {
    const { events, recorder } = setUp();
    recorder.record(orders, corrected);
    assert.equal(events.creates, 0);
  });

  test('the same thing again within ten minutes counts up one event; after ten minutes of rest it is a new one', async () => {
    const { clock, events, recorder } = setUp();
    for (let i = 0; i < 3; i++) {
      recorder.record(orders, corrected);
      await clock.advance(9 * 60_000);
    }
    assert.equal(events.all.length, 1);
    assert.equal(events.all[0]?.count, 3);
    assert.equal(events.all[0]?.lastTimestamp, '2026-01-01T00:18:00Z');
    await clock.advance(2 * 60_000);
    recorder.record(orders, corrected);
    await clock.settle();
    assert.deepEqual(
      events.all.map((event) => event.count),
      [3, 1],
    );
  });

  test('what repeats within one reconcile is written once, with its count', async () => {
    const { clock, events, recorder } = setUp();
    for (let i = 0; i < 5; i++) recorder.record(orders, corrected);
    await clock.settle();
    assert.deepEqual([events.creates, events.patches], [1, 0]);
    assert.equal(events.all[0]?.count, 5);
  });

  test('the tenth and later messages of one reason within ten minutes share one event', async () => {
    const { clock, events, recorder } = setUp();
    for (let i = 1; i <= 14; i++) {
      recorder.record(orders, { ...corrected, message: `put back field ${i}` });
      await clock.advance(1000);
    }
    assert.equal(events.all.length, 10);
    assert.equal(events.all.at(-1)?.message, '(combined from similar events): put back field 14');
    assert.equal(events.all.at(-1)?.count, 5);
  });

  test('an object gets 25 writes, then one per five minutes; what was held back is counted in it', async () => {
    // GIVEN a database in trouble each second, and another one
    const { clock, events, recorder } = setUp();
    for (let i = 0; i < 125; i++) {
      recorder.record(orders, corrected);
      await clock.advance(1000);
    }
    assert.equal(events.creates + events.patches, 25);
    assert.equal(recorder.stats.heldBack, 100);
    recorder.record({ ...orders, name: 'billing', uid: 'u-2' }, corrected);
    await clock.settle();
    assert.equal(events.all.length, 2, 'the other one is not punished');
    // WHEN five minutes are over
    await clock.advance(175_000);
    recorder.record(orders, corrected);
    recorder.record(orders, corrected);
    await clock.settle();
    // THEN
    assert.equal(events.creates + events.patches, 27);
    assert.equal(events.all[0]?.count, 127);
  });

  test('a long message is cut at 1024 bytes, between characters, with the prefix counted', async () => {
    const { clock, events, recorder } = setUp();
    for (let i = 0; i < 10; i++) recorder.record(orders, { ...corrected, message: `${i}${'Größe 😀'.repeat(200)}` });
    await clock.settle();
    assert.equal(events.all.length, 10);
    for (const { message } of events.all) {
      const bytes = Buffer.byteLength(message);
      assert.ok(bytes <= 1024 && bytes >= 1020, `${bytes} bytes`);
      assert.ok(message.endsWith('…') && !message.includes('\uFFFD'));
    }
  });

  test('an event that the cluster has forgotten is made anew with its count', async () => {
    const { clock, events, recorder } = setUp();
    recorder.record(orders, corrected);
    await clock.settle();
    events.objects.clear();
    recorder.record(orders, corrected);
    await clock.settle();
    assert.equal(events.all[0]?.count, 2);
  });

  test('a server that is busy is asked again, and an answer that got lost makes no second event', async () => {
    const { clock, events, recorder } = setUp();
    events.refusals.push(refusal('unavailable', 'back-off'));
    events.loseNextAnswer = true;
    recorder.record(orders, corrected);
    await clock.advance(10_000);
    assert.equal(events.all.length, 1);
    assert.deepEqual(recorder.stats, { written: 1, heldBack: 0, lost: 0, waiting: 0 });
  });

  test('a refused event is logged and lost, and hinders neither the caller nor later events', async () => {
    const { clock, events, recorder, lines } = setUp();
    events.refusals.push(refusal('namespace-terminating'), new Error('a bug'));
    recorder.record(orders, corrected);
    recorder.record(orders, { ...corrected, reason: 'Other' });
    recorder.record(orders, { ...corrected, reason: 'Third' });
    await clock.advance(10_000);
    assert.equal(recorder.stats.lost, 2);
    assert.deepEqual(
      events.all.map((event) => event.reason),
      ['Third'],
    );
    assert.equal(lines.length, 2);
    assert.equal(lines[0]?.['name'], 'orders');
  });

  test('a flood for ever new objects keeps memory bounded', async () => {
    // GIVEN a server that does not answer
    const clock = new VirtualClock();
    const { log } = new LogLines();
    const never = (): Promise<never> => new Promise(() => {});
    const sink = { create: never, patch: never };
    const recorder = new EventRecorder({ sink, clock, log, classify, component: 'c', instance: 'i', capacity: 100 });
    // WHEN
    for (let i = 0; i < 5000; i++) recorder.record({ ...orders, uid: `u-${i}` }, corrected);
    const flushed = recorder.flush(2000);
    await clock.advance(2000);
    // THEN
    assert.equal(await flushed, false);
    assert.equal(recorder.stats.waiting, 999);
    assert.equal(recorder.stats.lost, 4000);
  });

  test('a flush at the end waits for what is under way', async () => {
    const { clock, events, recorder } = setUp();
    for (let i = 0; i < 20; i++) recorder.record(orders, { ...corrected, reason: `Reason${i}` });
    assert.equal(await recorder.flush(), true);
    assert.equal(events.all.length, 20);
    assert.equal(await recorder.flush(), true, 'nothing to wait for');
    assert.equal(clock.sleeping, 0);
  });

  test('what waits is given up where somebody else leads now', async () => {
    const { events, recorder } = setUp();
    for (let i = 0; i < 20; i++) recorder.record(orders, { ...corrected, reason: `Reason${i}` });
    recorder.abandon();
    assert.equal(await recorder.flush(), true);
    assert.deepEqual([events.all.length, recorder.stats.lost, recorder.stats.waiting], [0, 20, 0]);
  });

  test('an event of an object without namespace goes to default, where the API wants it', async () => {
    const { clock, events, recorder } = setUp();
    recorder.record({ apiVersion: 'v1', kind: 'Node', name: 'n1' }, corrected);
    await clock.settle();
    assert.equal(events.all[0]?.metadata.namespace, 'default');
  });
});
