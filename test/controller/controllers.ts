import { databaseRights } from '../../constructs/install/rights.ts';
import { auditedRequests, auditLogLength, type AuditedRequest } from '../constructs/install/audit-log.ts';
import { kubectl } from '../constructs/install/installed.ts';
import type { Cluster } from '../cluster/index.ts';
import { MainProcess } from './main-process.ts';

/** Whose requests are in the audit log of a cluster of the tests. */
export const instances = 'system:serviceaccounts:plumbline-tests';
const name = 'plumbline-instances';
const rbac = 'rbac.authorization.k8s.io';

/** Instances of the controller of one namespace, each a process under a user of its own, so that the audit log tells who asked for what. */
export class Controllers implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #namespace: string;
  readonly #from: number;
  readonly #processes: MainProcess[] = [];

  private constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#from = auditLogLength(cluster);
  }

  /** Nobody has more rights than an installation for this namespace gives. */
  static async in(cluster: Cluster, namespace: string): Promise<Controllers> {
    const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'patch'] };
    const metadata = { name, namespace };
    const objects = [
      { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules: [...databaseRights, leases] },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: instances }],
      },
    ];
    await kubectl(cluster, ['apply', '-f', '-'], objects.map((one) => JSON.stringify(one)).join('\n'));
    return new Controllers(cluster, namespace);
  }

  kubeconfigOf(user: string): Promise<string> {
    return this.#cluster.kubeconfigFor(user, [instances]);
  }

  /** Starts one, which leads or waits. @param more `kubeconfig`: another way to the cluster; `entry`: another build */
  async start(
    user: string,
    more: { readonly kubeconfig?: string; readonly entry?: string; readonly args?: readonly string[] } = {},
  ): Promise<MainProcess> {
    const { kubeconfig = await this.kubeconfigOf(user), entry, args = [] } = more;
    const scope = ['--namespace', this.#namespace, '--lease-namespace', this.#namespace];
    const main = new MainProcess(['--kubeconfig', kubeconfig, ...scope, ...args], {}, entry);
    this.#processes.push(main);
    await main.says('the leader is known');
    return main;
  }

  /** What a user has asked for in the namespace since a moment, in milliseconds of the wall clock, but for the lease. */
  askedBy(user: string, since = 0): readonly AuditedRequest[] {
    return auditedRequests(this.#cluster, user, this.#from).filter(
      ({ resource, namespace, at }) => resource !== 'leases' && namespace === this.#namespace && at >= since,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const main of this.#processes) await main[Symbol.asyncDispose]();
  }
}

/** `patch services/orders`. */
export function inWords({ verb, resource, name }: AuditedRequest): string {
  return `${verb} ${resource}${name === '' ? '' : `/${name}`}`;
}
