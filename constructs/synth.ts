import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readFlags, specFlags } from './flags.ts';
import { OutputError, OutputFolder } from './output-folder.ts';

const usage = `npm run synth -- [--specs FOLDER] [--output FOLDER] [--standalone]

Writes the manifests of every DatabaseService below a folder by 'cdk8s synth', one file per object.

  --specs FOLDER    where the DatabaseService files are (default: examples)
  --output FOLDER   what is replaced, as a whole and only on success (default: dist);
                    it must be new, empty, or hold nothing but what synth has written
  --standalone      what only the controller can do is an error, not a note
  -h, --help        print this

Exit codes: 0 written; 1 a spec is wrong, nothing was changed; 2 wrong usage, nothing was changed.
`;

const project = fileURLToPath(new URL('..', import.meta.url));

interface Options {
  readonly specs: string;
  readonly output: string;
  readonly isStandalone: boolean;
}

/** `cdk8s synth` empties its output folder first, so it writes beside the real one, which is swapped when all went well. */
async function synth(options: Options): Promise<number> {
  const output = new OutputFolder(options.output, [project, resolve(options.specs), process.cwd()]);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal));
  const fresh = output.stage();
  try {
    const { code, errors } = await run(fresh, options, stop.signal);
    process.stderr.write(errors);
    if (code !== 0) return code;
    const count = readdirSync(fresh, { recursive: true }).filter((file) => String(file).endsWith('.yaml')).length;
    output.replaceBy(fresh);
    process.stdout.write(`${count} manifests in ${options.output}\n`);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Ends what it runs when it is aborted, for the reason of a signal. @returns an exit code, and what there is to say */
async function run(output: string, options: Options, stop: AbortSignal): Promise<{ code: number; errors: string }> {
  const child = spawn(join(project, 'node_modules', '.bin', 'cdk8s'), ['synth', '--output', output], {
    cwd: project,
    // With what it starts, a group of its own: none of them goes on to write when it is to stop.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      // Otherwise the command asks a registry for its newest version.
      CDK8S_CHECK_UPGRADE: 'false',
      PLUMBLINE_SPECS: resolve(options.specs),
      PLUMBLINE_STANDALONE: String(options.isStandalone),
    },
  });
  stop.addEventListener('abort', () => child.pid === undefined || process.kill(-child.pid, 'SIGKILL'));
  const ended = new Promise<number>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle(code ?? 1));
  });
  const [code, errors, printed] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
  if (stop.aborted) {
    const signal = stop.reason as NodeJS.Signals;
    return { code: 128 + constants.signals[signal], errors: `stopped by ${signal}\n` };
  }
  // Behind our own lines, the command repeats the failure as a stack trace of its own.
  const own = errors.split(/^.*\bcommand ".*" at .* (?:returned|failed)/m)[0] ?? errors;
  return { code: code === 0 ? 0 : 1, errors: own.trim() === '' && code !== 0 ? `${printed}${errors}` : own };
}

function flags(): Options {
  const { specs, output, standalone: isStandalone } = parseArgs({ options: specFlags }).values;
  if (specs === '') throw new Error('--specs names no folder');
  return { specs, output, isStandalone };
}

async function main(): Promise<number> {
  const options = readFlags(usage, flags);
  try {
    return await synth(options);
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

process.exitCode = await main();
