import type { IncomingMessage, ServerResponse } from 'node:http';
import { say, type Handler } from './endpoint.ts';

/** One named thing that has to be well. */
export interface Check {
  readonly name: string;
  /** Why it is not well, in a few words that hold no secret; undefined while it is. */
  readonly problem: () => string | undefined;
}

/** What each path asks, such as `readyz`. */
export type Checks = Readonly<Record<string, readonly Check[]>>;

/**
 * Answers as kube-apiserver does (k8s.io/apiserver/pkg/server/healthz): `ok`, or 500 with a line for each check; the lines too with `?verbose`.
 * `?exclude=name` leaves a check out, and `/readyz/name` asks for one alone. That something always answers is the check `ping`.
 */
export function healthHandler(checks: Checks): Handler {
  return (request, response) => {
    const { pathname, searchParams } = urlOf(request);
    const [, path = '', one, ...rest] = pathname.split('/');
    const all = checks[path];
    if (all === undefined || !Object.hasOwn(checks, path) || rest.length > 0) return notFound(response);
    const named = [ping, ...all];
    const asked = one === undefined || one === '' ? named : named.filter(({ name }) => name === one);
    if (asked.length === 0) return notFound(response);
    const report = inspect(asked, new Set(searchParams.getAll('exclude')));
    if (!report.isWell) return say(response, 500, `${report.lines}${path} check failed\n`);
    const isVerbose = searchParams.has('verbose');
    return say(response, 200, isVerbose ? `${report.lines}${path} check passed\n` : 'ok');
  };
}

const ping: Check = { name: 'ping', problem: () => undefined };

function inspect(
  checks: readonly Check[],
  excluded: ReadonlySet<string>,
): { readonly isWell: boolean; readonly lines: string } {
  let isWell = true;
  let lines = '';
  for (const { name, problem } of checks) {
    if (excluded.has(name)) {
      lines += `[+]${name} excluded: ok\n`;
      continue;
    }
    const found = problem();
    if (found !== undefined) isWell = false;
    lines += found === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${found}\n`;
  }
  const names = new Set(checks.map(({ name }) => name));
  const unknown = [...excluded].filter((name) => !names.has(name));
  if (unknown.length > 0) {
    lines += `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(',')}\n`;
  }
  return { isWell, lines };
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  // A target such as `//x` would be taken for a host.
  return new URL(`http://localhost/${url.replace(/^\/+/, '')}`);
}

function notFound(response: ServerResponse): void {
  say(response, 404, 'not found\n');
}
