import type { V1Pod } from '@kubernetes/client-node';
import type { NodeDatabase } from './node-database.ts';

/** A target and its labels, as in `static_configs` of Prometheus. */
export interface Discovered {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * What Prometheus finds of the members of a database by `kubernetes_sd_configs` with the role pod: a target for each port of each container.
 * Source: https://prometheus.io/docs/prometheus/latest/configuration/configuration/#pod
 */
export async function discovered(database: NodeDatabase): Promise<readonly Discovered[]> {
  const pods = await Promise.all(database.members.map((member) => database.pod(member)));
  return pods.flatMap((pod) => {
    const { metadata = {}, spec, status } = pod as unknown as V1Pod;
    const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => [`pod_label_${safe(name)}`, value]);
    const ofPod = { namespace: metadata.namespace, pod_name: metadata.name, ...Object.fromEntries(labels) };
    return (spec?.containers ?? []).flatMap((container) =>
      (container.ports ?? []).map((port) => ({
        targets: [`${status?.podIP}:${port.containerPort}`],
        labels: meta({ ...ofPod, pod_container_name: container.name, pod_container_port_name: port.name }),
      })),
    );
  });
}

function meta(facts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [`__meta_kubernetes_${name}`, value ?? '']));
}

function safe(label: string): string {
  return label.replace(/[^a-zA-Z0-9_]/g, '_');
}
