import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { discardFolder } from '../discard-folder.ts';

export const project = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command without a terminal and without input, on the Node of this process. */
export async function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    ...options.env,
  };
  // Set by the test runner; a command that is run by a test is not one.
  delete env['NODE_TEST_CONTEXT'];
  const child = spawn(command, [...args], { cwd: options.cwd ?? project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** A temporary folder that is removed with the scope. */
export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'plumbline-test-'));

  in(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** A copy of a part of the project. */
  copy(...names: readonly string[]): void {
    for (const name of names) cpSync(join(project, name), this.in(name), { recursive: true, verbatimSymlinks: true });
  }

  [Symbol.dispose](): void {
    discardFolder(this.path);
  }
}
