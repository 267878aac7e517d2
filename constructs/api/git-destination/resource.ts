import type { apiVersion } from '../resource.ts';
import type { GitDestinationSpec } from './spec.ts';
import type { GitDestinationStatus } from './status.ts';

export const gitDestinationKind = 'GitDestination';
export const gitDestinationPlural = 'gitdestinations';

/** A GitDestination as a user writes it. It has no namespace. */
export interface GitDestinationDocument {
  readonly apiVersion: typeof apiVersion;
  readonly kind: typeof gitDestinationKind;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: GitDestinationSpec;
}

/** A GitDestination as the API server serves it. */
export interface StoredGitDestination extends GitDestinationDocument {
  readonly metadata: GitDestinationDocument['metadata'] & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
  };
  readonly status?: GitDestinationStatus;
}
