import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { builtBinaries } from '../cluster/build.ts';
import { goModule, pinned } from '../cluster/go-module.ts';

export const folder = fileURLToPath(new URL('runner', import.meta.url));

/** Does what Argo CD does with scripts and templates; the version of Argo CD is pinned there. */
const runner = goModule({
  name: 'the scripts of Argo CD',
  folder,
  version: pinned(folder, 'github.com/argoproj/argo-cd/v3 (v\\S+)'),
  packages: { runner: 'plumbline.dev/argocd/runner' },
});

export type Request =
  | { readonly script: string; readonly object: object; readonly parameters?: Readonly<Record<string, string>> }
  /** Path of a script that Argo CD brings along, such as `batch/CronJob/health.lua`. */
  | { readonly builtIn: string; readonly object: object }
  /** One of an ApplicationSet, with its data. */
  | { readonly template: string; readonly object: object };

/** What a script returned, or why it failed. */
export interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

/** What comes of scripts and templates in Argo CD. @param timeZone of the process; defaults to UTC, as in Argo CD's image */
export async function inArgoCd(requests: readonly Request[], timeZone = 'UTC'): Promise<readonly Answer[]> {
  const binaries = await builtBinaries(runner);
  const child = spawn(binaries.runner, [], { stdio: ['pipe', 'pipe', 'pipe'], env: { TZ: timeZone } });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  child.stdin.end(JSON.stringify(requests));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`The runner ended with code ${code}: ${stderr.trim()}`);
  return JSON.parse(stdout) as readonly Answer[];
}

/** What one of them returned. @throws Error with the words of the interpreter */
export async function valueInArgoCd(request: Request, timeZone?: string): Promise<unknown> {
  const [answer] = await inArgoCd([request], timeZone);
  if (answer?.error !== undefined) throw new Error(answer.error);
  return answer?.value;
}
