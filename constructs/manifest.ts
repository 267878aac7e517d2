/** One Kubernetes object as plain JSON: what `render()` returns, what is written to a file, what is applied. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  /** `spec`, `data`, `rules` …: whatever the kind has. */
  readonly [field: string]: unknown;
}

/** The metadata that a manifest may state. Owner references and finalizers are added by a delivery, never rendered. */
export interface ManifestMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
