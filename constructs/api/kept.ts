/**
 * Keeps an object where it is when whoever applied it stops stating it: Argo CD, Flux and Helm each read an annotation of their own.
 * Sources: https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/, https://fluxcd.io/flux/components/kustomize/kustomizations/#prune
 * and https://helm.sh/docs/howto/charts_tips_and_tricks/#tell-helm-not-to-uninstall-a-resource
 */
export const keptAnnotations: Readonly<Record<string, string>> = {
  // The schema is too long for the annotation that an apply by the client leaves.
  'argocd.argoproj.io/sync-options': 'Delete=false,Prune=false,ServerSideApply=true',
  'helm.sh/resource-policy': 'keep',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};
