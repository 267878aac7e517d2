import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Exec, KubeConfig, type V1Status } from '@kubernetes/client-node';
import { longestMs, type KubectlResult } from './kubectl.ts';

export interface ExecTarget {
  readonly namespace: string;
  readonly pod: string;
  /** Defaults to the first of the pod. */
  readonly container?: string;
}

/** What of a WebSocket is needed here: client-node gives one of a package that has no types here. */
interface Socket {
  once(event: 'close', listener: () => void): unknown;
  terminate(): void;
}

const clients = new Map<string, Exec>();

/**
 * Runs a command in a container, over the protocol of `kubectl exec -i`, but in this process: tests ask members hundreds of times, and a kubectl
 * takes more of the processor than what it asks for. A failing command is a result, not an error, and so is a pod that cannot be asked.
 *
 * @param kubeconfig path of a file that stays as it is
 */
export async function execInPod(
  kubeconfig: string,
  { namespace, pod, container = '' }: ExecTarget,
  command: readonly string[],
  stdin = '',
): Promise<KubectlResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const over = Promise.withResolvers<V1Status | string>();
  const timer = setTimeout(() => over.resolve(`no end within ${longestMs / 1000} s`), longestMs).unref();
  let socket: Socket | undefined;
  const open = async (): Promise<void> => {
    const [input, onEnd] = [Readable.from([stdin]), (status: V1Status) => over.resolve(status)];
    const exec = clientOf(kubeconfig);
    socket = await exec.exec(namespace, pod, container, [...command], stdout, stderr, input, false, onEnd);
    socket?.once('close', () => over.resolve('the connection was cut off'));
  };
  // What fails is an event of the WebSocket, which has a message too.
  open().catch((error: unknown) => over.resolve((error as Error).message));
  const end = await over.promise;
  clearTimeout(timer);
  if (typeof end === 'string') socket?.terminate();
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { stdout: out, stderr: `${err}${reasonOf(end)}`, code: codeOf(end) };
}

function clientOf(kubeconfig: string): Exec {
  const known = clients.get(kubeconfig);
  if (known !== undefined) return known;
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const client = new Exec(config);
  clients.set(kubeconfig, client);
  return client;
}

function codeOf(end: V1Status | string): number {
  if (typeof end === 'string') return 1;
  if (end.status === 'Success') return 0;
  return Number(end.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? 1);
}

function reasonOf(end: V1Status | string): string {
  if (typeof end === 'string') return end;
  return end.status === 'Success' ? '' : (end.message ?? '');
}
