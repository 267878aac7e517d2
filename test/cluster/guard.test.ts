import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine } from './command-line.ts';
import { createFolder } from './folder.ts';
import type { Command } from './guard.ts';
import { Guard } from './process.ts';

test('a process runs in its folder, and what it writes is in its log', async (t) => {
  const guard = newGuard(t);
  const command = shell(guard, 'echo "$GREETING from $PWD"; echo trouble >&2; exit 3');
  const process = await guard.run({ ...command, environment: { GREETING: 'hello' } });
  assert.equal(await guard.wait(process), 'with code 3');
  assert.equal(process.exit, 'with code 3');
  assert.equal(readFileSync(command.log, 'utf8'), `hello from ${guard.folder}\ntrouble\n`);
});

test('a command that does not exist is an error in words', async (t) => {
  const guard = newGuard(t);
  const command: Command = { ...shell(guard, ''), name: 'nothing', command: join(guard.folder, 'nothing') };
  await assert.rejects(guard.run(command), /^Error: nothing could not be started: spawn .*nothing ENOENT\.$/);
});

test('a process that does not heed SIGTERM is killed after its time of grace', async (t) => {
  const guard = newGuard(t);
  const polite = await guard.run({ ...shell(guard, 'sleep 1000'), name: 'polite' });
  await guard.end(polite, 20_000);
  assert.equal(polite.exit, 'by signal SIGTERM');

  const stubborn = await guard.run({
    ...shell(guard, 'trap "" TERM; echo ready; while :; do sleep 0.1; done'),
    name: 'stubborn',
  });
  while (!readFileSync(stubborn.command.log, 'utf8').includes('ready')) await delay(10);
  await guard.end(stubborn, 200);
  assert.equal(stubborn.exit, 'by signal SIGKILL');
});

test('closing ends what a process has started too, and removes the folder', async (t) => {
  const guard = newGuard(t);
  const command = shell(guard, 'sleep 1000 & echo $!; wait');
  const process = await guard.run(command);
  const pids = async (): Promise<number[]> => {
    while (!/\d\n/.test(readFileSync(command.log, 'utf8'))) await delay(10);
    return [await process.pid, Number(readFileSync(command.log, 'utf8'))];
  };
  const all = await pids();
  assert.ok(all.every((pid) => commandLine(pid) !== undefined));
  await guard.close();
  for (let wait = 0; wait < 100 && all.some((pid) => commandLine(pid) !== undefined); wait += 1) await delay(50);
  assert.deepEqual(all.map(commandLine), [undefined, undefined]);
  assert.equal(existsSync(guard.folder), false);
  assert.notEqual(process.exit, undefined);
});

function newGuard(t: TestContext): Guard {
  const guard = new Guard(createFolder());
  t.after(() => guard.close());
  return guard;
}

function shell(guard: Guard, script: string): Command {
  return {
    name: 'shell',
    command: '/bin/sh',
    args: ['-c', script],
    cwd: guard.folder,
    environment: { PATH: process.env['PATH'] },
    log: join(guard.folder, 'shell.log'),
  };
}
