import type { V1PodSpec } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';
import { memberSelector } from '../labels.ts';
import { defaults, type Database } from './defaults.ts';

type PodSpec = Json<V1PodSpec>;

/** Members apart from each other by the label of the spec, and by node in any case; preferred only, so that one node is enough. */
export function spread({ name, scheduling }: Database): PodSpec['topologySpreadConstraints'] {
  const keys = new Set([scheduling.spreadBy, defaults.hostname]);
  return [...keys].map((topologyKey) => ({
    labelSelector: { matchLabels: memberSelector(name) },
    maxSkew: 1,
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Honor',
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
  }));
}

/** Which nodes: the same for members and for backups, which else could not run where the members do (postgres-operator#1288). */
export function placement({ scheduling }: Database): Pick<PodSpec, 'nodeSelector' | 'tolerations'> {
  return { nodeSelector: scheduling.nodeSelector, tolerations: scheduling.tolerations };
}
