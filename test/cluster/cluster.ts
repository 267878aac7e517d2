import type { KubectlResult } from './kubectl.ts';
import type { Image } from './node/archive.ts';
import type { Part } from './parts.ts';

/** A real Kubernetes control plane on this machine. Without a node pods are stored but never run. */
export interface Cluster extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`, with a node another address; the same for as long as the cluster lives. */
  readonly server: string;
  /** Path of an administrator's kubeconfig; its context is `plumbline`. */
  readonly kubeconfig: string;
  /** Path of the kubectl that belongs to this version of Kubernetes. */
  readonly kubectl: string;
  /** Its temporary folder: data, certificates, logs. */
  readonly folder: string;
  /** What was started: etcd and kube-apiserver always, the others if they were asked for and exist. */
  readonly parts: readonly Part[];
  /** Path of the audit log, one JSON event per line. Undefined without `auditLog`. */
  readonly auditLogPath: string | undefined;
  /** Path of a script that stops the cluster and removes its folder. Undefined without `keep`. */
  readonly stopScript: string | undefined;
  /** Runs kubectl as administrator. A failing command is a result, not an error. */
  kubectlRun(args: readonly string[], stdin?: string): Promise<KubectlResult>;
  /** Path of a kubeconfig with a client certificate of that user. A new user may do nothing until RBAC says otherwise. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  /**
   * Stops and starts kube-apiserver, on the same port with the same data; down for at least `downMs` (defaults to 0).
   * Resolves when it is ready; the controllers back off while it is down and may need some more seconds.
   */
  restartApiServer(options?: { readonly downMs?: number }): Promise<void>;
  /** Stops kube-apiserver half a second after asking it to end; by then watches have not ended, so they are cut off. */
  stopApiServer(): Promise<void>;
  /** Resolves when it is ready again. */
  startApiServer(): Promise<void>;
  /** Path of the log file of a part. */
  logs(part: Part): string;
  /** Ends all parts and removes the folder, also with `keep`. */
  stop(): Promise<void>;
  /** `stop()`, but with `keep` nothing. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A cluster on whose only node pods run. Nothing of it can be reached from another machine, nor does it reach one. */
export interface NodeCluster extends Cluster {
  readonly nodeName: string;
  /** IPv4 address of the node, as this machine sees it. */
  readonly nodeAddress: string;
  /** Makes an image known to the node, which pulls none from anywhere. Those of `images` are known already, and sooner. */
  loadImage(image: Image): Promise<void>;
  /** The processes of a container, by the numbers that they have on this machine, so that they can be sent signals. */
  processesOf(container: ContainerName): Promise<readonly number[]>;
  /**
   * Runs a command on the node as root, where it sees the processes of all pods, and returns its standard output.
   * @throws when it fails, with what it said.
   */
  runOnNode(command: string, args: readonly string[], stdin?: string): Promise<string>;
}

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface ClusterOptions {
  /** Start one real node too, which needs root on Linux; see `whyNoNode`. Defaults to false. */
  readonly node?: boolean;
  /** What the node can run. They are unpacked once and kept in the cache. Defaults to none. */
  readonly images?: readonly Image[];
  /** How much the volumes of the node's StorageClass can have together. Defaults to 65536, however much there really is. */
  readonly volumeCapacityMi?: number;
  /** Start kube-controller-manager: garbage collection, ServiceAccounts, StatefulSets … Defaults to true. */
  readonly controllerManager?: boolean;
  /** Start kube-scheduler. Without nodes it places nothing, but it says so on each pod. Defaults to true. */
  readonly scheduler?: boolean;
  /**
   * Files of CustomResourceDefinitions that are served before kube-controller-manager starts: its garbage collector looks for new kinds only
   * twice a minute, and until then deletes nothing that such an object owns. Defaults to none.
   */
  readonly crds?: readonly string[];
  /** More flags for kube-apiserver, after (so over) its own. */
  readonly apiServerFlags?: readonly string[];
  /** The same for kube-controller-manager. */
  readonly controllerManagerFlags?: readonly string[];
  /** Write an audit log at level Metadata: of everybody, or of the users in some groups alone. Defaults to false. */
  readonly auditLog?: boolean | { readonly groups: readonly string[] };
  /** Receives each line of progress. Without it, only what takes minutes (the first build) is told, on standard error. */
  readonly onProgress?: (line: string) => void;
  /** Let the cluster outlive this process; `stopScript` stops it. Defaults to false: it ends with this process. */
  readonly keep?: boolean;
}
