/** A branch of a repository that Argo CD knows, by its own credentials. */
export interface ArgoRepository {
  /** As it stands in Argo CD's settings: two spellings of a URL are two repositories to it. */
  readonly url: string;
  /** Defaults to `main`. */
  readonly branch?: string;
}

/** A cluster that Argo CD knows. */
export interface ArgoCluster {
  /** Address of its API server. Defaults to the one that Argo CD runs in. */
  readonly server: string;
}

/**
 * A field that Argo CD neither compares nor changes. With `RespectIgnoreDifferences`, which every Application here has, a sync states the live
 * value of each such field under Argo CD's own name, also where Git never said anything of it. So none is ignored by default: with a server-side
 * diff, what Git does not state is no difference, and of what Git states Plumbline changes nothing at run time.
 */
export interface IgnoredDifference {
  /** `*` for every group; empty for the core. */
  readonly group: string;
  /** `*` for every kind. */
  readonly kind: string;
  /** Defaults to all names. */
  readonly name?: string;
  /** Such as `/spec/replicas`. */
  readonly jsonPointers?: readonly string[];
  /** Such as `.spec.template.spec.containers[].image`. */
  readonly jqPathExpressions?: readonly string[];
  /** Every field that these field managers own. */
  readonly managedFieldsManagers?: readonly string[];
}

/** What every Application has, whoever makes it. */
export interface ArgoApplicationOptions {
  readonly repository: ArgoRepository;
  readonly cluster?: ArgoCluster;
  /** Namespace of Argo CD. Defaults to `argocd`. */
  readonly argoNamespace?: string;
  /** AppProject. Defaults to `default`. */
  readonly project?: string;
  /**
   * Whether Argo CD puts back what others change. Defaults to true. For databases with `delivery.apply: true` say false: Plumbline puts it back, and
   * Argo CD, which looks at Git every few minutes only, would otherwise put the state before a change back for that long.
   */
  readonly selfHeal?: boolean;
  /** Defaults to none, see there why. */
  readonly ignoreDifferences?: readonly IgnoredDifference[];
}
