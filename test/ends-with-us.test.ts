import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { commandLine } from './cluster/command-line.ts';
import { eventually } from './controller/running-plumbline.ts';

const module = JSON.stringify(new URL('ends-with-us.ts', import.meta.url).href);

/** Runs a script that has started a process `child`, with a process group for each of the two. */
function run(script: string) {
  const start = `import { spawn } from 'node:child_process';
    import { endsWithUs } from ${module};
    const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
    endsWithUs(child);
    ${script}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', start], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
}

test('a process ends with the one that has started it, also when that is killed', async () => {
  const parent = run('console.log(child.pid); setInterval(() => {}, 1000);');
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line);
  assert.match(commandLine(pid) ?? '', /sleep/);
  parent.kill('SIGKILL');
  await eventually('it is gone', () => commandLine(pid) === undefined || undefined);
});

test('it ends too when a terminal interrupts all of the group, and the one that has started it is killed later', async () => {
  // GIVEN
  const parent = run(`process.on('SIGINT', () => console.log('interrupted'));
    console.log(child.pid);
    setInterval(() => {}, 1000);`);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line);

  // WHEN
  process.kill(-(parent.pid ?? 0), 'SIGINT');
  await once(parent.stdout, 'data');
  assert.match(commandLine(pid) ?? '', /sleep/);
  parent.kill('SIGKILL');

  // THEN
  await eventually('it is gone', () => commandLine(pid) === undefined || undefined);
});

test('whoever has ended its process ends by itself', async () => {
  const parent = run(`child.kill(); child.once('exit', (_, signal) => console.log(signal));`);
  assert.equal(await text(parent.stdout), 'SIGTERM\n');
});
