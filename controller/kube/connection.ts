import { monotonicClock, type Clock } from './clock.ts';
import { ConnectionError } from './connection-error.ts';
import { ClusterConnection, type Connection } from './cluster-connection.ts';
import { notInCluster, SERVICE_ACCOUNT_FOLDER, targetInCluster } from './in-cluster.ts';
import { targetFromKubeconfig, type Target } from './kubeconfig.ts';

export type { Connection, HttpRequest, HttpResponse } from './cluster-connection.ts';

export interface ConnectOptions {
  /** Path, or several as in $KUBECONFIG. Defaults to $KUBECONFIG, then ~/.kube/config, then the pod's service account. */
  readonly kubeconfig?: string | undefined;
  /** Defaults to the kubeconfig's current context. */
  readonly context?: string | undefined;
  /** Use the pod's service account and nothing else. Defaults to false. */
  readonly inCluster?: boolean;
  /** Where the service account is mounted. Defaults to {@link SERVICE_ACCOUNT_FOLDER}. */
  readonly serviceAccountFolder?: string;
  /** Defaults to `process.env`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Ask the server once before returning. Defaults to true; not for a process that must start while the server is down. */
  readonly check?: boolean;
  readonly clock?: Clock | undefined;
}

/**
 * Reads the configuration and, unless told not to, asks the server for its version.
 * @throws ConnectionError with what, where and what to do.
 */
export async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const connection = new ClusterConnection(await findTarget(options), options.clock ?? monotonicClock);
  try {
    await connection.prepare();
    if (options.check !== false) await connection.check();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function findTarget(options: ConnectOptions): Promise<Target> {
  const { kubeconfig, context, environment = process.env, serviceAccountFolder = SERVICE_ACCOUNT_FOLDER } = options;
  const inCluster = (): Promise<Target | undefined> => targetInCluster(environment, serviceAccountFolder);
  if (options.inCluster === true) {
    const target = await inCluster();
    if (target === undefined) throw notInCluster(serviceAccountFolder);
    return target;
  }
  const target = await targetFromKubeconfig(environment, kubeconfig, context);
  const found = target ?? (context === undefined ? await inCluster() : undefined);
  if (found !== undefined) return found;
  throw new ConnectionError(
    'kubeconfig-missing',
    'there is no kubeconfig: none was named, $KUBECONFIG is not set, ~/.kube/config does not exist, and this is no pod. Give --kubeconfig',
  );
}
