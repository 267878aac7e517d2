import { Command, InvalidArgumentError, Option } from 'commander';
import { parseAddress, type Address } from './endpoints/address.ts';
import type { LogLevel } from './runtime/logger.ts';

/** How the controller runs; each has a flag and an environment variable. */
export interface ControllerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: readonly string[];
  readonly workers: number;
  readonly leaseNamespace: string;
  readonly leaseName: string;
  readonly logLevel: LogLevel;
  /** Absent: metrics are not served. */
  readonly metricsAddress?: Address;
  readonly metricsAuth: MetricsAuth;
  /** Both or neither. */
  readonly metricsCertFile?: string;
  readonly metricsKeyFile?: string;
  /** Absent: probes are not served. */
  readonly healthAddress?: Address;
  readonly gitUrl?: string;
  readonly gitBranch: string;
  readonly clusterName: string;
}

/** Who may read the metrics: who a token of the cluster and RBAC say may, or everybody who gets to the port. */
export type MetricsAuth = 'tokens' | 'none';

/** Where the help and the words about wrong flags go. */
export interface OptionsOutput {
  /** Defaults to standard output. */
  readonly writeOut?: (text: string) => void;
  /** Defaults to standard error. */
  readonly writeErr?: (text: string) => void;
}

/** @throws CommanderError after it has told in one line what is wrong, or printed the help that was asked for */
export function parseOptions(argv: readonly string[], output: OptionsOutput = {}): ControllerOptions {
  const command = new Command('plumbline-controller')
    .description('Keeps the databases of a cluster true to their DatabaseService objects.')
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      ...output,
      outputError: (text, write) => write(`${text.trim().replaceAll(/\s*\n\s*/g, ' ')} (--help lists the flags)\n`),
    })
    .addHelpText(
      'after',
      '\nA variable that is empty counts as not set.\nExit codes: 0 stopped as asked; 1 cannot run; 2 wrong usage; 3 another has taken the lease.',
    );
  for (const option of options()) command.addOption(option);
  command.parse([...argv], { from: 'user' });
  const parsed = withoutEmpty(command.opts<ControllerOptions>());
  if ((parsed.metricsCertFile === undefined) !== (parsed.metricsKeyFile === undefined)) {
    command.error('error: --metrics-cert-file and --metrics-key-file need each other');
  }
  return parsed;
}

/** commander makes an empty text of what was left out by a parser. */
function withoutEmpty(options: ControllerOptions): ControllerOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== ''),
  ) as unknown as ControllerOptions;
}

function options(): readonly Option[] {
  return [
    option(
      '--kubeconfig <file>',
      'KUBECONFIG_FILE',
      "kubeconfig; default: $KUBECONFIG, ~/.kube/config, then the pod's service account",
    ),
    option('--context <name>', 'CONTEXT', 'context of the kubeconfig; default: its current one'),
    option(
      '--namespace <names>',
      'NAMESPACE',
      'look after this namespace only, or these, with commas between them; default: all',
      labels,
    ),
    option('--workers <n>', 'WORKERS', 'databases that are worked on at a time', count).default(8),
    option('--lease-namespace <name>', 'LEASE_NAMESPACE', 'where the lease of the leader is kept', label).default(
      'default',
    ),
    option('--lease-name <name>', 'LEASE_NAME', 'name of that lease', label).default('plumbline-controller'),
    option('--log-level <level>', 'LOG_LEVEL', `what is logged (${logLevels.join(', ')})`, logLevel).default('info'),
    option(
      '--metrics-address <host:port>',
      'METRICS_ADDRESS',
      'where /metrics is served, such as :8443; default: nowhere',
      address,
    ),
    option(
      '--metrics-auth <kind>',
      'METRICS_AUTH',
      'tokens: over TLS, to whom RBAC lets get /metrics; none: to everybody who gets to the port',
      metricsAuth,
    ).default('tokens'),
    option(
      '--metrics-cert-file <file>',
      'METRICS_CERT_FILE',
      'certificate for it in PEM, read again when it changes; default: one that is made in memory',
    ),
    option('--metrics-key-file <file>', 'METRICS_KEY_FILE', 'private key of that certificate'),
    option(
      '--health-address <host:port>',
      'HEALTH_ADDRESS',
      'where /healthz and /readyz are served, such as :8081; default: nowhere',
      address,
    ),
    option('--git-url <url>', 'GIT_URL', 'repository that manifests are committed to; default: none'),
    option('--git-branch <name>', 'GIT_BRANCH', 'branch of it').default('main'),
    option('--cluster-name <name>', 'CLUSTER_NAME', 'folder of this cluster in it: clusters/<name>/', folder).default(
      'default',
    ),
  ];
}

function option(
  flags: string,
  variable: string,
  description: string,
  parse: (text: string) => unknown = (text) => text,
): Option {
  // Deployments state a variable as empty where a person would leave it out.
  return new Option(flags, description)
    .env(`PLUMBLINE_${variable}`)
    .argParser((text: string, before: unknown) => (text === '' ? before : parse(text)));
}

const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function logLevel(text: string): LogLevel {
  const level = logLevels.find((one) => one === text);
  if (level === undefined) throw new InvalidArgumentError(`It must be one of ${logLevels.join(', ')}.`);
  return level;
}

function metricsAuth(text: string): MetricsAuth {
  if (text !== 'tokens' && text !== 'none') throw new InvalidArgumentError('It must be tokens or none.');
  return text;
}

function address(text: string): Address | '' {
  // As in other controllers, 0 stands for nowhere.
  if (text === '0') return '';
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new InvalidArgumentError('It must be host:port, or :port for all addresses.');
  return parsed;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 64)
    throw new InvalidArgumentError('It must be a whole number from 1 to 64.');
  return value;
}

function label(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must have only a-z, 0-9 and -, begin and end with a letter or digit, and be at most 63 long.',
    );
  }
  return text;
}

function labels(text: string): readonly string[] {
  const all = text.split(',').map((name) => label(name.trim()));
  return [...new Set(all)];
}

function folder(text: string): string {
  if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must have only letters, digits, -, _ and ., for it becomes the name of a folder.',
    );
  }
  return text;
}
