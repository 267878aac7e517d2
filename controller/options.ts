import { Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from './runtime/logger.ts';

/** How the controller runs; each has a flag and an environment variable. */
export interface ControllerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly workers: number;
  readonly leaseNamespace: string;
  readonly leaseName: string;
  readonly logLevel: LogLevel;
  readonly gitUrl?: string;
  readonly gitBranch: string;
  readonly clusterName: string;
}

/** @throws CommanderError after it has printed what is wrong, or the help that was asked for */
export function parseOptions(argv: readonly string[]): ControllerOptions {
  const command = new Command('plumbline-controller')
    .description('Keeps the databases of a cluster true to their DatabaseService objects.')
    .exitOverride()
    .allowExcessArguments(false)
    .showHelpAfterError('(--help lists the flags)')
    .addOption(
      option(
        '--kubeconfig <file>',
        'KUBECONFIG_FILE',
        "kubeconfig; default: $KUBECONFIG, ~/.kube/config, then the pod's service account",
      ),
    )
    .addOption(option('--context <name>', 'CONTEXT', 'context of the kubeconfig; default: its current one'))
    .addOption(option('--namespace <name>', 'NAMESPACE', 'look after this namespace only; default: all'))
    .addOption(option('--workers <n>', 'WORKERS', 'databases that are worked on at a time').default(8).argParser(count))
    .addOption(
      option('--lease-namespace <name>', 'LEASE_NAMESPACE', 'where the lease of the leader is kept').default('default'),
    )
    .addOption(option('--lease-name <name>', 'LEASE_NAME', 'name of that lease').default('plumbline-controller'))
    .addOption(
      option('--log-level <level>', 'LOG_LEVEL', 'what is logged')
        .default('info')
        .choices(['debug', 'info', 'warn', 'error']),
    )
    .addOption(option('--git-url <url>', 'GIT_URL', 'repository that manifests are committed to; default: none'))
    .addOption(option('--git-branch <name>', 'GIT_BRANCH', 'branch of it').default('main'))
    .addOption(
      option('--cluster-name <name>', 'CLUSTER_NAME', 'folder of this cluster in it: clusters/<name>/')
        .default('default')
        .argParser(folder),
    )
    .addHelpText('after', '\nExit codes: 0 stopped as asked; 1 cannot run, or the lease was lost; 2 wrong usage.');
  command.parse([...argv], { from: 'user' });
  return command.opts<ControllerOptions>();
}

function option(flags: string, variable: string, description: string): Option {
  return new Option(flags, description).env(`PLUMBLINE_${variable}`);
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 64)
    throw new InvalidArgumentError('It must be a whole number from 1 to 64.');
  return value;
}

function folder(text: string): string {
  if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must have only letters, digits, -, _ and ., for it becomes the name of a folder.',
    );
  }
  return text;
}
