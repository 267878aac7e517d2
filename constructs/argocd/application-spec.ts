import type { ArgoApplicationOptions } from './options.ts';

export const argoApiVersion = 'argoproj.io/v1alpha1';

/** The group of annotations that Argo CD reads. */
export const argoGroup = 'argocd.argoproj.io';

/** Where an Application's manifests are, and where they go. */
export interface Places {
  /** Folder in the repository. */
  readonly path: string;
  /** For objects that name no namespace. */
  readonly namespace: string | undefined;
}

/**
 * Annotations of an Application. The diff is the API server's own, by a dry run, so that defaults and fields of others are no differences. A commit
 * that leaves the folder alone leaves the Application alone: a monorepo of a thousand databases is one refresh for a change of one.
 * Sources: https://argo-cd.readthedocs.io/en/stable/user-guide/diff-strategies/ and
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/high_availability/#manifest-paths-annotation
 */
export const applicationAnnotations: Readonly<Record<string, string>> = {
  [`${argoGroup}/compare-options`]: 'ServerSideDiff=true',
  [`${argoGroup}/manifest-generate-paths`]: '.',
};

/** The spec of an Application. */
export function applicationSpec(options: ArgoApplicationOptions, { path, namespace }: Places) {
  const { repository, cluster, project = 'default', selfHeal = true, ignoreDifferences = [] } = options;
  return {
    project,
    source: {
      repoURL: repository.url,
      targetRevision: revision(options),
      path,
      // Otherwise a config.json in the folder would be taken for a manifest.
      directory: { include: '*.yaml' },
    },
    destination: { server: cluster?.server ?? 'https://kubernetes.default.svc', namespace },
    syncPolicy: {
      automated: { prune: true, selfHeal, allowEmpty: false },
      // A failed sync of a commit is tried again by nothing else (argo-cd#18442).
      retry: { limit: 10, backoff: { duration: '5s', factor: 2, maxDuration: '3m' } },
      syncOptions: [
        'ServerSideApply=true',
        'RespectIgnoreDifferences=true',
        'PruneLast=true',
        'SkipDryRunOnMissingResource=true',
      ],
    },
    ignoreDifferences: ignoreDifferences.length === 0 ? undefined : ignoreDifferences,
  };
}

/** The branch by its full name, which no tag can be mistaken for. */
export function revision({ repository: { branch = 'main' } }: ArgoApplicationOptions): string {
  return `refs/heads/${branch}`;
}
