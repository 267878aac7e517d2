import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Writes the controller as one file, as `npm run bundle` does.
 *
 * @param metafile where esbuild writes what it put into it: https://esbuild.github.io/api/#metafile. Defaults to nowhere
 * @throws Error with what the bundler says
 */
export async function bundle(file: string, metafile?: string): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(`${project}package.json`, 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const more = [`--outfile=${file}`, ...(metafile === undefined ? [] : [`--metafile=${metafile}`])];
  // The same command, for one place says what it is.
  const command = `${scripts['bundle']} "$@"`;
  const PATH = `${project}node_modules/.bin:${process.env['PATH'] ?? ''}`;
  const child = spawn('sh', ['-c', command, 'sh', ...more], {
    cwd: project,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`the controller cannot be bundled: ${errors}`);
}
