import { spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const usage = `npm run synth -- [--specs FOLDER] [--output FOLDER] [--standalone]

Writes the manifests of every DatabaseService below a folder by 'cdk8s synth', one file per object.

  --specs FOLDER    where the DatabaseService files are (default: examples)
  --output FOLDER   what is replaced, as a whole and only on success (default: dist)
  --standalone      what only the controller can do is an error, not a note

Exit codes: 0 written; 1 a spec is wrong, nothing was changed; 2 wrong usage.
`;

const project = fileURLToPath(new URL('..', import.meta.url));

interface Options {
  readonly specs: string;
  readonly output: string;
  readonly isStandalone: boolean;
}

/** `cdk8s synth` empties its output folder first, so it writes beside the real one, which is swapped when all went well. */
async function synth(options: Options): Promise<number> {
  const output = resolve(options.output);
  const fresh = `${output}.new-${process.pid}`;
  const old = `${output}.old`;
  recover(output, old);
  try {
    const { code, errors } = await run(fresh, options);
    process.stderr.write(errors);
    if (code !== 0) return 1;
    if (existsSync(output)) renameSync(output, old);
    renameSync(fresh, output);
    const count = readdirSync(output, { recursive: true }).filter((file) => String(file).endsWith('.yaml')).length;
    process.stdout.write(`${count} manifests in ${options.output}\n`);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

/** An earlier run may have ended between the two renames, or before it removed its folder. */
function recover(output: string, old: string): void {
  if (!existsSync(output) && existsSync(old)) renameSync(old, output);
  const folder = dirname(output);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const owner = name.startsWith(`${basename(output)}.new-`) ? Number(name.split('-').at(-1)) : undefined;
    if (owner !== undefined && !isRunning(owner)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function run(output: string, options: Options): Promise<{ code: number; errors: string }> {
  const child = spawn(join(project, 'node_modules', '.bin', 'cdk8s'), ['synth', '--output', output], {
    cwd: project,
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
  const ended = new Promise<number>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle(code ?? 1));
  });
  const [code, errors, printed] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
  // Behind our own lines, the command repeats the failure as a stack trace of its own.
  const own = errors.split(/^.*\bcommand ".*" at .* (?:returned|failed)/m)[0] ?? errors;
  return { code, errors: own.trim() === '' && code !== 0 ? `${printed}${errors}` : own };
}

function parse(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        specs: { type: 'string', default: 'examples' },
        output: { type: 'string', default: 'dist' },
        standalone: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return { specs: values.specs, output: values.output, isStandalone: values.standalone };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
}

const options = parse();
process.exitCode = options ? await synth(options) : 2;
