import type { V1ConfigMap } from '@kubernetes/client-node';
import { Construct } from 'constructs';
import { group, kind } from '../api/resource.ts';
import { emit } from '../emit.ts';
import { serialize } from '../serialize.ts';
import { scripts } from './scripts.ts';

/** What can be done to a DatabaseService in Argo CD; each has a script of its own. */
const actions = [
  'pause-drift',
  'resume-drift',
  'rollback',
  'end-rollback',
  'suspend-backups',
  'resume-backups',
] as const;

/**
 * What Argo CD has to know to tell how a database is, by the keys of its ConfigMap `argocd-cm`: the health of DatabaseServices, GitDestinations and StatefulSets, and what
 * can be done to a DatabaseService. And that objects are tracked by annotation, as is its default since version 3: by label, an application that has
 * the name of a database would take the database's objects for its own (argo-cd#5431).
 */
export function argoCustomizations(): Readonly<Record<string, string>> {
  return {
    'application.resourceTrackingMethod': 'annotation',
    [`resource.customizations.health.${group}_${kind}`]: scripts['database-service.health.lua'],
    [`resource.customizations.health.${group}_GitDestination`]: scripts['git-destination.health.lua'],
    'resource.customizations.health.apps_StatefulSet': scripts['stateful-set.health.lua'],
    [`resource.customizations.actions.${group}_${kind}`]: serialize({
      'discovery.lua': scripts['database-service.discovery.lua'],
      definitions: actions.map((name) => ({ name, 'action.lua': scripts[`database-service.${name}.lua`] })),
    }),
  };
}

/** Where Argo CD's settings are. */
export interface ArgoCustomizationsProps {
  /** Namespace of Argo CD. Defaults to `argocd`. */
  readonly argoNamespace?: string;
}

/**
 * The same as a part of the ConfigMap `argocd-cm`, to be applied by `kubectl apply --server-side`: then the settings of others in it stay as they are.
 * Of no use to an apply by the client, nor to an Application that states `argocd-cm` already: put {@link argoCustomizations} into that.
 */
export class ArgoCustomizations extends Construct {
  constructor(scope: Construct, id: string, { argoNamespace = 'argocd' }: ArgoCustomizationsProps = {}) {
    super(scope, id);
    emit<V1ConfigMap>(this, 'settings', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'argocd-cm',
        namespace: argoNamespace,
        // Argo CD reads no ConfigMap without it.
        labels: { 'app.kubernetes.io/name': 'argocd-cm', 'app.kubernetes.io/part-of': 'argocd' },
      },
      data: { ...argoCustomizations() },
    });
  }
}
