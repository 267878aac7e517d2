import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startCluster } from './index.ts';
import { assertNothingLeft, killGuard, pidsOf, runningIn, useOwnTemporaryFolder } from './left-overs.ts';

/** Starts sooner, where it does not matter how many parts there are to end. */
const fewParts = '{ controllerManager: false, scheduler: false }';

for (const [signal, options] of [
  ['SIGKILL', '{}'],
  ['SIGINT', fewParts],
  ['SIGTERM', fewParts],
] as const) {
  test(`a process that is ended by ${signal} leaves nothing of its cluster`, async () => {
    const { child, folder, pids } = await startElsewhere('setInterval(() => undefined, 1000);', options);
    child.kill(signal);
    await once(child, 'exit');
    await assertNothingLeft(folder, pids);
  });
}

test('a process that throws, exits or just ends leaves nothing of its cluster', async () => {
  for (const end of ["throw new Error('on purpose');", 'process.exit(3);', '']) {
    const { folder, pids } = await startElsewhere(end, fewParts);
    await assertNothingLeft(folder, pids);
  }
});

test('a process that is killed while its cluster starts leaves nothing of it', async () => {
  const script = `
    import { Guard } from ${JSON.stringify(new URL('process.ts', import.meta.url).href)};
    import { startCluster } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
    const run = Guard.prototype.run;
    Guard.prototype.run = async function (command) {
      const started = await run.call(this, command);
      if (command.name === 'kube-apiserver') console.log(this.folder);
      return started;
    };
    await startCluster();`;
  const { child, folder, pids } = await spawnCluster(script);
  child.kill('SIGKILL');
  await assertNothingLeft(folder, pids);
});

test('a cluster that is kept outlives its process, and its script stops it', async () => {
  const { child, folder, pids } = await startElsewhere('process.exit(0);', '{ keep: true }');
  if (child.exitCode === null) await once(child, 'exit');
  assert.deepEqual(runningIn(folder, pids), pids, 'its guard and its parts');
  execFileSync(`${folder}/stop.sh`);
  assert.deepEqual(runningIn(folder, pids), []);
  assert.equal(existsSync(folder), false);
});

test('the script stops a kept cluster whose guard was killed, too', async (t) => {
  useOwnTemporaryFolder(t);
  const { folder, pids } = await startElsewhere('', '{ keep: true, controllerManager: false, scheduler: false }');
  await killGuard(t, folder, pids);
  execFileSync(`${folder}/stop.sh`);
  await assertNothingLeft(folder, pids);
});

test('the next start removes what a killed guard left behind', async (t) => {
  useOwnTemporaryFolder(t);
  const { child, folder, pids } = await startElsewhere('setInterval(() => undefined, 1000);', fewParts);
  await killGuard(t, folder, pids);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(runningIn(folder, pids), pids.slice(1), 'its parts, but not its guard');
  await using _next = await startCluster({ controllerManager: false, scheduler: false });
  await assertNothingLeft(folder, pids);
});

test('a test run that uses the shared cluster ends by itself and leaves nothing', async () => {
  const script = `
    import { test } from 'node:test';
    import { sharedCluster } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
    test('uses it', async () => console.log((await sharedCluster()).folder));`;
  const { child, folder, pids } = await spawnCluster(script, ['--test-reporter=dot']);
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 0);
  assert.deepEqual(runningIn(folder, pids), [], 'gone before the process is');
  await assertNothingLeft(folder, pids);
});

interface Elsewhere {
  readonly child: ChildProcess;
  readonly folder: string;
  /** The guard first, then what it started. */
  readonly pids: readonly number[];
}

/** Starts a cluster in a process of its own, which then runs `afterwards`. */
function startElsewhere(afterwards: string, options: string): Promise<Elsewhere> {
  return spawnCluster(`
    import { once } from 'node:events';
    import { startCluster } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
    console.log((await startCluster(${options})).folder);
    await once(process.stdin.resume(), 'end');
    ${afterwards}`);
}

async function spawnCluster(script: string, flags: readonly string[] = []): Promise<Elsewhere> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: environment,
  });
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('/')) continue;
    const pids = pidsOf(line);
    child.stdin.end();
    child.stdout.resume();
    return { child, folder: line, pids };
  }
  throw new Error(`The process ended before it had a cluster, with code ${child.exitCode}.`);
}
