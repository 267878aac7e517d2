import type { V1NetworkPolicyPeer } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';

/** Amounts of CPU and memory, in Kubernetes' notation. */
export interface Amounts {
  readonly cpu?: string;
  readonly memory?: string;
}

/** Where the controller commits manifests to; needs an image with git. */
export interface GitOptions {
  /** An absolute path, `file://`, `http(s)://` or ssh; without credentials. */
  readonly url: string;
  /** Defaults to `main`. */
  readonly branch?: string;
}

/** How the controller is installed. */
export interface InstallationProps {
  /** Where the controller runs. Defaults to `plumbline-system`. */
  readonly namespace?: string;
  /** Whether that namespace is made, with the Pod Security level `restricted`. Defaults to true. */
  readonly createNamespace?: boolean;
  /**
   * The namespaces whose databases it looks after. Defaults to all: then it has a ClusterRole. With a list it has a Role in each of them and can
   * read no Secret anywhere else; the namespaces must exist.
   */
  readonly watchNamespaces?: readonly string[];
  /** The image of `images/controller`. Defaults to `plumbline-controller:<version>`, with `git` or a stated `gitDestinations` to `…-git`; neither is in a registry. */
  readonly image?: string;
  /** Secrets in its namespace that the image is pulled by. Defaults to none. */
  readonly imagePullSecrets?: readonly string[];
  /** One works, the others wait with their caches full. Defaults to 2. */
  readonly replicas?: number;
  /** Defaults to `info`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * More variables of the controller's container, such as those of an OpenTelemetry SDK. No secrets: they are in the manifest. Defaults to none; what
   * has an option of its own is not set here.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Databases that are worked on at a time, from 1 to 64. Defaults to the controller's own, 8. */
  readonly workers?: number;
  /**
   * Defaults to requests of 50m and 192Mi, and a limit of 512Mi. There is no limit of CPU: a controller that is throttled loses its lease.
   */
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
  /** Defaults to the priority of the cluster's pods. */
  readonly priorityClass?: string;
  /** Defaults to none. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /**
   * Who may read the metrics. Tokens (default): over TLS, whoever RBAC lets get `/metrics`; for that it may ask the API server about tokens, which is
   * a right that holds for the cluster, also with `watchNamespaces`. None: whoever `metricsFrom` names, and nobody is asked for a token.
   */
  readonly metricsAuth?: 'Tokens' | 'None';
  /** The pods that reach the metrics where `metricsAuth` is None. Defaults to those of its own namespace. */
  readonly metricsFrom?: readonly Json<V1NetworkPolicyPeer>[];
  /** What this cluster is called in repositories: `clusters/<name>/`. Defaults to `default`. */
  readonly clusterName?: string;
  /**
   * Whether databases can be delivered to GitDestinations, which needs an image with git. Defaults to true, with `watchNamespaces` to false: they have no
   * namespace, so it is a right that holds for the cluster, and the Secrets that they name are read in the controller's own namespace.
   */
  readonly gitDestinations?: boolean;
  /** A repository for all databases that name no GitDestination. Defaults to none. */
  readonly git?: GitOptions;
}
