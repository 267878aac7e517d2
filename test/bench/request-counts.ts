import type { Kube, ResourceType } from '../../controller/kube/index.ts';
import { eventually } from '../controller/running-plumbline.ts';

/** What one user asked of the API server, by what it is for. Watches count once, when they are opened. */
export interface RequestCounts {
  readonly leases: number;
  readonly watches: number;
  /** Dry runs among them: the API server counts them alike. */
  readonly writes: number;
  readonly reads: number;
}

type Group = keyof RequestCounts;

const flowSchemas: ResourceType<FlowSchema> = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  namespaced: false,
};

type FlowSchema = Awaited<ReturnType<Kube['get']>> & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

const everything = { apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };

/** A request belongs to the first group whose rule it meets. */
const groups: readonly { readonly group: Group; readonly rule: object }[] = [
  {
    group: 'leases',
    rule: {
      resourceRules: [{ verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] }],
    },
  },
  { group: 'watches', rule: { resourceRules: [{ verbs: ['watch'], ...everything }] } },
  {
    group: 'writes',
    rule: { resourceRules: [{ verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'], ...everything }] },
  },
  {
    group: 'reads',
    rule: {
      resourceRules: [{ verbs: ['*'], ...everything }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  },
];

/**
 * Has the API server itself count the requests of a user, whatever client they come from: each group gets a FlowSchema, whose requests are a
 * metric. The priority level is `exempt`, so that nobody is slowed down.
 *
 * @param name of the FlowSchemas, before the group
 * @returns what reads the counts
 */
export async function countRequests(kube: Kube, name: string, user: string): Promise<() => Promise<RequestCounts>> {
  for (const [place, { group, rule }] of groups.entries()) {
    const flowSchema = {
      apiVersion: flowSchemas.apiVersion,
      kind: flowSchemas.kind,
      metadata: { name: `${name}-${group}` },
      spec: {
        matchingPrecedence: 500 + place,
        priorityLevelConfiguration: { name: 'exempt' },
        rules: [{ subjects: [{ kind: 'User', user: { name: user } }], ...rule }],
      },
    };
    await kube.create(flowSchema, { type: flowSchemas, fieldManager: 'bench' });
  }
  for (const { group } of groups) {
    await eventually(`the FlowSchema of ${group} is in force`, async () => {
      const { status } = await kube.get(flowSchemas, { name: `${name}-${group}` });
      return status?.conditions?.some(({ type, status }) => type === 'Dangling' && status === 'False') || undefined;
    });
  }
  return async () => countsIn(String(await kube.raw('/metrics')), name);
}

/** The counts in the metrics of an API server, as Prometheus writes them; those of FlowSchemas that nothing used are 0. */
export function countsIn(metrics: string, name: string): RequestCounts {
  const count = (group: Group): number => {
    const line = new RegExp(
      `^apiserver_flowcontrol_dispatched_requests_total\\{flow_schema="${name}-${group}",[^}]*\\} (\\S+)$`,
      'm',
    );
    return Number(line.exec(metrics)?.[1] ?? 0);
  };
  return { leases: count('leases'), watches: count('watches'), writes: count('writes'), reads: count('reads') };
}

/** What came between two readings. */
export function countsBetween(before: RequestCounts, after: RequestCounts): RequestCounts {
  return {
    leases: after.leases - before.leases,
    watches: after.watches - before.watches,
    writes: after.writes - before.writes,
    reads: after.reads - before.reads,
  };
}

/** All but watches and the lease, which everybody needs. */
export function asked({ writes, reads }: RequestCounts): number {
  return writes + reads;
}
