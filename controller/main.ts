import { join } from 'node:path';
import { CommanderError } from 'commander';
import { NotInstalledError, requireDatabaseServices } from './database/preflight.ts';
import { mayWatchDestinations } from './delivery/destinations/may-watch.ts';
import { GitDeliveryError } from './delivery/git/git-delivery-error.ts';
import { GitWriter } from './delivery/git/writer.ts';
import { EndpointError } from './endpoints/endpoint.ts';
import {
  connect,
  ConnectionError,
  KubeClient,
  KubeError,
  LeaderElector,
  systemClock,
  type Connection,
} from './kube/index.ts';
import type { RequestReason } from './metrics/index.ts';
import { Observation } from './observation.ts';
import { parseOptions, type ControllerOptions } from './options.ts';
import { Plumbline } from './plumbline.ts';
import { TemporaryFolder } from './temporary-folder.ts';
import type { ManagerEnd } from './runtime/lifecycle.ts';
import { createLogger, type Logger } from './runtime/logger.ts';

/** An older Node that reads TypeScript has to get as far as to be told of this: what runs before it uses no newer syntax, such as `await using`. */
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
      const observation = await Observation.start(connection, options, log);
      try {
        return await run({ connection, options, log, observation }, stop.signal);
      } finally {
        await observation.close();
      }
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
const expected = [ConnectionError, KubeError, NotInstalledError, GitDeliveryError, EndpointError];

/**
 * Runs one controller after the other: one that could not renew its lease, as in every outage of the API server that is longer than ten seconds, has
 * stopped all work, and another waits for its turn with everything read anew. Where somebody else has taken the lease, the process ends: it was
 * frozen or cut off while another one worked, and nothing of what it holds is to be trusted.
 */
async function run(surroundings: Surroundings, signal: AbortSignal): Promise<number> {
  const { connection, log, observation } = surroundings;
  const kube = new KubeClient(connection, observation.requests('start'));
  await requireDatabaseServices(kube, connection.server);
  const hasDestinations = await mayWatchDestinations(kube, surroundings.options.leaseNamespace);
  if (!hasDestinations)
    log.info(
      {},
      'no GitDestinations: their definition, or the right to list them or the Secrets of this namespace, is missing',
    );
  let cacheSyncTimeoutMs: number | undefined;
  for (;;) {
    const { end, isFollowed } = await runOnce({ ...surroundings, hasDestinations, cacheSyncTimeoutMs }, signal);
    if (end.kind === 'stopped' || signal.aborted) return 0;
    if (end.reason !== 'LeaseLost') return 1;
    if (isFollowed) return leaseTaken;
    log.warn({}, 'the lease was lost: all work is stopped, and it is asked for again');
    // The server may be away for long, and was there before.
    cacheSyncTimeoutMs = longestTimerMs;
  }
}

const longestTimerMs = 2 ** 31 - 1;
/** Exit code of one that finds that another has taken the lease. */
const leaseTaken = 3;

/** What one controller after the other has. */
interface Surroundings {
  readonly connection: Connection;
  readonly options: ControllerOptions;
  readonly log: Logger;
  readonly observation: Observation;
}

interface Instance extends Surroundings {
  readonly hasDestinations: boolean;
  readonly cacheSyncTimeoutMs: number | undefined;
}

async function runOnce(
  { connection, options, log, observation, hasDestinations, cacheSyncTimeoutMs }: Instance,
  signal: AbortSignal,
): Promise<{ readonly end: ManagerEnd; readonly isFollowed: boolean }> {
  const elector = new LeaderElector({
    kube: new KubeClient(connection, { lane: 'lease', ...observation.requests('lease') }),
    namespace: options.leaseNamespace,
    name: options.leaseName,
    onError: (err) => log.warn({ err }, 'the lease could not be asked for'),
  });
  const isLeading = (): boolean => elector.isLeading;
  const kubeFor = (reason: RequestReason): KubeClient =>
    new KubeClient(connection, {
      ...observation.requests(reason),
      // Whoever waits reads everything as well.
      ...(reason === 'watch' ? {} : { mayAsk: isLeading }),
    });
  const folder = new TemporaryFolder('plumbline-git-');
  const plumbline = new Plumbline({
    kube: kubeFor('reconcile'),
    kubeFor,
    log,
    metrics: observation.metrics,
    git: options.gitUrl === undefined ? undefined : writerOf(options, folder, isLeading),
    destinations: hasDestinations ? destinationsOf(options, folder) : undefined,
    namespace: options.namespace,
    workers: options.workers,
    cacheSyncTimeoutMs,
    elector: {
      get isLeading() {
        return elector.isLeading;
      },
      run: (callbacks, signal) =>
        elector.run({ ...callbacks, onNewLeader: (identity) => log.info({ identity }, 'the leader is known') }, signal),
    },
  });
  observation.follow(plumbline, elector);
  try {
    const end = await plumbline.run(signal);
    return { end, isFollowed: elector.leader !== '' && elector.leader !== elector.identity };
  } finally {
    folder.remove();
  }
}

function writerOf(
  { gitUrl = '', gitBranch, clusterName }: ControllerOptions,
  folder: TemporaryFolder,
  mayWrite: () => boolean,
): GitWriter {
  return new GitWriter({
    url: gitUrl,
    branch: gitBranch,
    cluster: clusterName,
    directory: join(folder.path, 'clone'),
    clock: systemClock,
    mayWrite,
  });
}

function destinationsOf(
  { leaseNamespace: namespace, clusterName: cluster }: ControllerOptions,
  folder: TemporaryFolder,
) {
  return { namespace, cluster, folder: () => folder.path };
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
// A push that hangs would keep it.
if (process.exitCode === leaseTaken) process.exit();
