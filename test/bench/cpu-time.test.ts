import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuSecondsIn } from './cpu-time.ts';

test('the CPU time of a process is user and system, whatever its name is', () => {
  const rest = 'S 1 2 3 4 5 6 7 8 9 10 1250 75 99 98 20 0 11 0 12345';
  for (const name of ['node', 'a (b) c', ') 1 2 3']) assert.equal(cpuSecondsIn(`4711 (${name}) ${rest}`), 13.25);
});

test('what is no such file is told', () => {
  assert.throws(() => cpuSecondsIn('nothing'), /no \/proc\/PID\/stat: nothing/);
});
