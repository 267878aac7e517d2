import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { closingLines, outcome, type Counts } from './counts.ts';

/** Tests that share a control plane, one after the other. */
const inOneProcess = ['--test-isolation=none', '--test-concurrency=1'];

/**
 * Runs every test. Most of the time goes into waiting, for Kubernetes, for PostgreSQL and for commands, so these parts run side by side; what one
 * prints comes when those before it have ended.
 */
const parts = [
  [...inOneProcess, 'test/**/*.test.ts', 'test/{cluster,constructs,leaks}/**/*.cluster.ts', 'test/**/*.command.ts'],
  [...inOneProcess, 'test/controller/**/*.cluster.ts'],
  ['--test-concurrency=2', 'test/groups/members-1.ts', 'test/groups/members-2.ts'],
];

/** Tests start the commands of this project hundreds of times; what is compiled once need not be again. */
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
};

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    stop.abort();
    process.exitCode = 128 + constants.signals[signal];
  });
}

interface Part {
  readonly output: PassThrough;
  readonly ended: Promise<{ readonly code: number; readonly isGood: boolean; readonly counts: Counts }>;
}

/** Starts `node --test`; as long as nobody reads its output, it is kept. */
function start(args: readonly string[]): Part {
  const child = spawn(process.execPath, ['--test', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  stop.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const output = new PassThrough({ highWaterMark: 64 * 2 ** 20 });
  child.stdout.pipe(output);
  const end = async () => {
    const read = outcome(child.stdout);
    const [code] = (await once(child, 'close')) as [number | null];
    const { counts, hasFailed, hasTold } = await read;
    if (hasTold) process.stderr.write('A password was printed by a test.\n');
    return { code: code ?? 1, isGood: !hasFailed && !hasTold, counts };
  };
  return { output, ended: end() };
}

const started = parts.map(start);
for (const { output, ended } of started) {
  await pipeline(output, process.stdout, { end: false });
  await ended;
}
const results = await Promise.all(started.map(({ ended }) => ended));
process.stdout.write(`\n${closingLines(results.map(({ counts }) => counts))}`);
process.exitCode ??= Math.max(...results.map(({ code, isGood }) => code || Number(!isGood)));
