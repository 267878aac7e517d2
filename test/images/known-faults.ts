import type { Package } from '../../images/controller/shipped.ts';
import { run } from '../commands/command.ts';

/** What npm knows of the versions in package-lock.json, or why it knows nothing. */
export type Audit =
  | { readonly isAnswered: true; readonly faults: readonly Fault[] }
  | { readonly isAnswered: false; readonly why: string };

export interface Fault {
  readonly severity: string;
  /** Paths in node_modules of what has it. */
  readonly paths: readonly string[];
  /** Package, what is wrong, and where to read about it. */
  readonly text: string;
}

/**
 * Runs `npm audit`.
 *
 * @param settings of npm over its own: `npm_config_registry` and so on
 * @throws Error when npm says nothing that can be read
 */
export async function audit(settings: NodeJS.ProcessEnv = {}): Promise<Audit> {
  // A machine without a network is to learn that soon.
  const args = ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=20000'];
  const { stdout, stderr } = await run('npm', args, { env: settings });
  let answer: Answer;
  try {
    answer = JSON.parse(stdout) as Answer;
  } catch (cause) {
    throw new Error(`npm audit: ${stderr}`, { cause });
  }
  if (answer.auditReportVersion !== 2) return { isAnswered: false, why: answer.message ?? stderr };
  return { isAnswered: true, faults: Object.values(answer.vulnerabilities ?? {}).flatMap(faultsOf) };
}

/** Those for which nothing should be released: severe, and in what ships. */
export function serious(faults: readonly Fault[], shipped: readonly Package[]): readonly Fault[] {
  const ours = new Set(shipped.map(({ path }) => path));
  return faults.filter(
    ({ severity, paths }) => /^(high|critical)$/.test(severity) && paths.some((path) => ours.has(path)),
  );
}

/** Also what only depends on a package with a fault is listed; it has none of its own. */
function faultsOf({ name, nodes, via }: Vulnerability): readonly Fault[] {
  const own = via.filter((one) => typeof one !== 'string');
  return own.map(({ severity, title, range, url }) => ({
    severity,
    paths: nodes,
    text: `${name} ${range}: ${title} (${severity}), ${url}`,
  }));
}

interface Answer {
  readonly auditReportVersion?: number;
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
}

interface Vulnerability {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly via: readonly (string | Record<'severity' | 'title' | 'range' | 'url', string>)[];
}
