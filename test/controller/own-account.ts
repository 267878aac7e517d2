import { databaseRights, destinationRights, leaseRights, metricsRights } from '../../constructs/install/rights.ts';
import type { Cluster, PodCluster } from '../cluster/index.ts';
import { auditedRequests, auditLogLength, userOf } from '../constructs/install/audit-log.ts';
import { kubeconfigOf, kubectl } from '../constructs/install/installed.ts';

const name = 'controller';
const namespace = 'plumbline-tests';
const group = 'rbac.authorization.k8s.io';

const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name: namespace },
    rules: [...databaseRights, ...destinationRights, ...leaseRights, ...metricsRights],
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: namespace },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: namespace },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  },
];

const made = new WeakMap<Cluster, Promise<string>>();

/** A cluster of the tests' own, or somebody else's. */
export type AnyCluster = Pick<Cluster, 'kubeconfig'> | PodCluster;

/**
 * The account of the controllers of tests: it has the rights that an installation gives, and no other. On a cluster of somebody else's, where tests
 * make nothing outside of their namespaces, it is whoever the tests are.
 */
export class OwnAccount {
  readonly kubeconfig: string;
  readonly #cluster: Cluster | undefined;
  readonly #from: number;

  private constructor(kubeconfig: string, cluster?: Cluster) {
    this.kubeconfig = kubeconfig;
    this.#cluster = cluster?.auditLogPath === undefined ? undefined : cluster;
    this.#from = this.#cluster === undefined ? 0 : auditLogLength(this.#cluster);
  }

  static async in(cluster: AnyCluster): Promise<OwnAccount> {
    const own = ownCluster(cluster);
    if (own === undefined) return new OwnAccount(cluster.kubeconfig);
    const account = made.get(own) ?? make(own);
    made.set(own, account);
    return new OwnAccount(await account, own);
  }

  /** What it was not allowed since then, as far as there is an audit log. */
  get denied(): readonly string[] {
    if (this.#cluster === undefined) return [];
    return auditedRequests(this.#cluster, userOf(namespace, name), this.#from)
      .filter(({ isDenied }) => isDenied)
      .map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
  }
}

/** Path of the account's kubeconfig, for a controller that is a process of its own. */
export async function ownKubeconfig(cluster: Cluster): Promise<string> {
  return (await OwnAccount.in(cluster)).kubeconfig;
}

function ownCluster(cluster: AnyCluster): Cluster | undefined {
  if ('own' in cluster) return cluster.own;
  return 'kubectlRun' in cluster ? (cluster as Cluster) : undefined;
}

async function make(cluster: Cluster): Promise<string> {
  await kubectl(cluster, ['apply', '--server-side', '-f', '-'], objects.map((one) => JSON.stringify(one)).join('\n'));
  return kubeconfigOf(cluster, namespace, name);
}
