import type { Patch } from '../../controller/kube/index.ts';

/** A change of something that nobody else states, in an object that others keep. */
export interface ForeignEdit {
  readonly kind: string;
  /** Name of the object, after the name of the database. */
  readonly suffix: string;
  /** Another one with each number. */
  readonly patch: (n: number) => Patch;
}

/** What goes on in a cluster all day and is no drift: statuses, and the labels and annotations of others. */
export const foreignEdits: readonly ForeignEdit[] = [
  status('Service', (n) => ({
    type: 'example.com/Reachable',
    status: 'True',
    reason: `Probe${n}`,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
  status('StatefulSet', (n) => ({ type: 'example.com/Scanned', status: 'True', reason: `Scan${n}` })),
  metadata('StatefulSet', '', 'annotations', 'example.com/last-seen', 'inventory'),
  metadata('ConfigMap', '-patroni-config', 'annotations', 'history', 'Patroni'),
  metadata('ConfigMap', '-patroni', 'labels', 'example.com/team', 'kubectl-label'),
  metadata('Service', '-ro', 'annotations', 'argocd.argoproj.io/tracking-id', 'argocd-controller'),
  metadata('NetworkPolicy', '', 'annotations', 'example.com/reviewed', 'policy-engine'),
  metadata('PodDisruptionBudget', '', 'labels', 'example.com/team', 'kubectl-label'),
  metadata('CronJob', '-backup', 'annotations', 'example.com/last-seen', 'inventory'),
  metadata('RoleBinding', '-members', 'labels', 'kustomize.toolkit.fluxcd.io/name', 'kustomize-controller'),
];

function status(kind: string, condition: (n: number) => object): ForeignEdit {
  return {
    kind,
    suffix: '',
    patch: (n) => ({
      kind: 'merge',
      body: { status: { conditions: [condition(n)] } },
      fieldManager: 'prober',
      subresource: 'status',
    }),
  };
}

function metadata(
  kind: string,
  suffix: string,
  place: 'labels' | 'annotations',
  name: string,
  fieldManager: string,
): ForeignEdit {
  return {
    kind,
    suffix,
    patch: (n) => ({ kind: 'merge', body: { metadata: { [place]: { [name]: `value-${n}` } } }, fieldManager }),
  };
}
