import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { closingLines, lastLines, outcome, type Counts } from './counts.ts';
import { folderVariable, readRecords } from './rights/record.ts';
import { rightsComplaints } from './rights/verdict.ts';

/** Tests that share a control plane, one after the other. */
const inOneProcess = ['--test-isolation=none', '--test-concurrency=1'];

/**
 * Runs every test. Most of the time goes into waiting, for Kubernetes, for PostgreSQL and for commands, so these parts run side by side; what one
 * prints comes when those before it have ended.
 */
const parts = [
  [...inOneProcess, 'test/**/*.test.ts', 'test/groups/clusters.ts'],
  [...inOneProcess, 'test/groups/commands.ts'],
  [...inOneProcess, 'test/groups/controller.ts'],
  ['--test-concurrency=2', 'test/groups/members-1.ts', 'test/groups/members-2.ts'],
];

/** Which of their rights the controllers of all parts made use of is known when all have ended. */
const rights = mkdtempSync(join(tmpdir(), 'plumbline-rights-'));

/** Tests start the commands of this project hundreds of times; what is compiled once need not be again. */
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  [folderVariable]: rights,
};

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    stop.abort();
    process.exitCode = 128 + constants.signals[signal];
  });
}

interface Result {
  readonly code: number;
  readonly counts: Counts;
  /** What there is to say of a part that is not good; empty for a good one. */
  readonly complaints: readonly string[];
}

interface Part {
  readonly output: PassThrough;
  readonly ended: Promise<Result>;
}

/** Enough for several failures with their stacks. */
const longestComplaint = 200;

/** Starts `node --test`; as long as nobody reads its output, it is kept. */
function start(args: readonly string[]): Part {
  const child = spawn(process.execPath, ['--test', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  stop.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const output = new PassThrough({ highWaterMark: 64 * 2 ** 20 });
  child.stdout.pipe(output);
  child.stderr.pipe(process.stderr, { end: false });
  const end = async (): Promise<Result> => {
    const reads = Promise.all([outcome(child.stdout), lastLines(child.stderr, longestComplaint)]);
    const [ended] = (await once(child, 'close')) as [number | null];
    const [{ counts, failures, late, hasTold }, errors] = await reads;
    const code = (ended ?? 1) || Number(hasTold || failures.length + late.length > 0);
    if (code === 0) return { code, counts, complaints: [] };
    const told = hasTold ? ['A password was printed by a test.'] : [];
    return {
      code,
      counts,
      complaints: [...failures.slice(0, longestComplaint), ...late, ...errors, ...told, `exit code ${ended}`],
    };
  };
  return { output, ended: end() };
}

const started = parts.map(start);
for (const { output, ended } of started) {
  await pipeline(output, process.stdout, { end: false });
  await ended;
}
const results = await Promise.all(started.map(({ ended }) => ended));
const isWhole = results.every(({ code }) => code === 0);
const aboutRights = rightsComplaints(readRecords(rights), isWhole);
rmSync(rights, { recursive: true });
// Once more where it is looked for: at the end of what is printed.
const complaints = [...results.flatMap((result) => result.complaints), ...aboutRights];
process.stdout.write(`${complaints.join('\n')}\n${closingLines(results.map(({ counts }) => counts))}`);
process.exitCode ??= Math.max(...results.map(({ code }) => code), Number(aboutRights.length > 0));
