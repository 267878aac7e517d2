import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

/** Writes the controller as one file, as `npm run bundle` does. @throws Error with what the bundler says */
export async function bundle(file: string): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  // The same command, for one place says what it is.
  const command = `${scripts['bundle']} --outfile="$1"`;
  const PATH = `${project}node_modules/.bin:${process.env['PATH'] ?? ''}`;
  const child = spawn('sh', ['-c', command, 'sh', file], {
    cwd: project,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`the controller cannot be bundled: ${errors}`);
}
