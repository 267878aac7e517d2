import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeStorage } from '../../../controller/health/judge-storage.ts';
import { usageOf } from '../../../controller/health/usage.ts';

const gib = 1024 ** 3;

function member(name: string, usedPercent: number, slots: Readonly<Record<string, number>> = {}) {
  const usage = usageOf({ 'plumbline.dev/usage': JSON.stringify({ capacityBytes: 4 * gib, usedPercent, slots }) });
  return { name, usage };
}

test('a volume with room is not told of, whatever a slot keeps', () => {
  const { holds, reason } = judgeStorage([member('orders-0', 80, { cdc: gib })]);
  assert.deepEqual([holds, reason], [false, 'RoomLeft']);
});

test('one that is nearly full is critical; of several, the fullest is told', () => {
  const { holds, reason, message } = judgeStorage([member('orders-0', 85), member('orders-1', 90)]);
  assert.deepEqual([holds, reason], [true, 'VolumeNearlyFull']);
  assert.equal(message, 'The volume of orders-1 is 90 % full: free room on it.');
});

test('the slot that keeps most of it is named, with what it keeps', () => {
  const { holds, reason, message } = judgeStorage([member('orders-0', 90, { orders_1: gib / 2, cdc: gib })]);
  assert.deepEqual([holds, reason], [true, 'SlotKeepsWal']);
  assert.match(message, /slot cdc keeps at least 1073741824 bytes \(1024 MiB\) of WAL/);
});

test('a slot that keeps little is not blamed', () => {
  assert.equal(judgeStorage([member('orders-0', 95, { cdc: gib / 4 })]).reason, 'VolumeNearlyFull');
});

test('what a member has not said, or cannot be read, is no trouble', () => {
  for (const text of ['', 'null', '{"usedPercent":"99","slots":[]}', '{"slots":{"cdc":"x"}}']) {
    const usage = usageOf({ 'plumbline.dev/usage': text });
    assert.deepEqual([judgeStorage([{ name: 'orders-0', usage }]).holds, usage.keptBySlots], [false, {}], text);
  }
});
