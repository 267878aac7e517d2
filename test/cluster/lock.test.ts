import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { withLock } from './lock.ts';
import { discardFolder } from '../discard-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
after(() => discardFolder(folder));
const path = join(folder, 'lock');
const neverWaits = (): void => assert.fail('nothing to wait for');

test('one works at a time, and the others wait', async () => {
  let working = 0;
  const waitedFor: number[] = [];
  const work = async (): Promise<void> => {
    working += 1;
    assert.equal(working, 1);
    await delay(20);
    working -= 1;
  };
  await Promise.all([1, 2, 3].map(() => withLock(path, (pid) => waitedFor.push(pid), work)));
  assert.deepEqual(waitedFor, [process.pid, process.pid], 'told once each');
  assert.equal(existsSync(path), false);
});

test('the lock of a process that is gone is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(path, `${pid}\n${hostname()}`);
  assert.equal(await withLock(path, neverWaits, async () => 'done'), 'done');
});

test('the lock of another host is respected while it shows signs of life', async () => {
  writeFileSync(path, '1\nelsewhere');
  const start = performance.now();
  const taken = withLock(
    path,
    () => utimesSync(path, new Date(), new Date(Date.now() - 120_000)),
    async () => performance.now() - start,
  );
  assert.ok((await taken) >= 150, 'waited once');
});

test('work that fails gives the lock back', async () => {
  const work = async (): Promise<never> => {
    throw new Error('on purpose');
  };
  await assert.rejects(withLock(path, neverWaits, work), /on purpose/);
  assert.equal(existsSync(path), false);
});
