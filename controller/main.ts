import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { NotInstalledError, requireDatabaseServices } from './database/preflight.ts';
import { GitDeliveryError } from './delivery/git/git-delivery-error.ts';
import { GitWriter } from './delivery/git/writer.ts';
import {
  connect,
  ConnectionError,
  KubeClient,
  KubeError,
  LeaderElector,
  systemClock,
  type Connection,
} from './kube/index.ts';
import { parseOptions, type ControllerOptions } from './options.ts';
import { Plumbline } from './plumbline.ts';
import { createLogger, type Logger } from './runtime/logger.ts';

const oldestNode = 24;

/** Runs until SIGINT or SIGTERM. @returns the exit code */
async function main(argv: readonly string[]): Promise<number> {
  if (Number(process.versions.node.split('.')[0]) < oldestNode) {
    process.stderr.write(
      `This is Node ${process.versions.node}, and ${oldestNode} is needed: run 'npm run controller', which brings its own.\n`,
    );
    return 1;
  }
  const options = read(argv);
  if (typeof options === 'number') return options;
  const log = createLogger({ level: options.logLevel });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    const connection = await connect({ kubeconfig: options.kubeconfig, context: options.context });
    try {
      return await run(connection, options, log, stop.signal);
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (!expected.some((type) => error instanceof type)) throw error;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** What a person can mend: their message is enough, a stack would only hide it. */
const expected = [ConnectionError, KubeError, NotInstalledError, GitDeliveryError];

async function run(
  connection: Connection,
  options: ControllerOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<number> {
  const kube = new KubeClient(connection);
  await requireDatabaseServices(kube, connection.server);
  const elector = new LeaderElector({
    kube: new KubeClient(connection, { lane: 'lease' }),
    namespace: options.leaseNamespace,
    name: options.leaseName,
    onError: (err) => log.warn({ err }, 'the lease could not be asked for'),
  });
  const plumbline = new Plumbline({
    kube,
    log,
    git: writerOf(options),
    namespace: options.namespace,
    workers: options.workers,
    elector: {
      run: (callbacks, signal) =>
        elector.run({ ...callbacks, onNewLeader: (identity) => log.info({ identity }, 'the leader is known') }, signal),
    },
  });
  const end = await plumbline.run(signal);
  return end.kind === 'stopped' ? 0 : 1;
}

function writerOf({ gitUrl, gitBranch, clusterName }: ControllerOptions): GitWriter | undefined {
  if (gitUrl === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-git-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return new GitWriter({
    url: gitUrl,
    branch: gitBranch,
    cluster: clusterName,
    directory: join(folder, 'clone'),
    clock: systemClock,
  });
}

function read(argv: readonly string[]): ControllerOptions | number {
  try {
    return parseOptions(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
