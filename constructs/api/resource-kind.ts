import { openApiSchema, objectRules } from './crd.ts';
import { gitDestinationRules, gitDestinationSchema } from './git-destination/crd.ts';
import { gitDestinationKind } from './git-destination/resource.ts';
import { kind } from './resource.ts';
import type { Rule } from './rule.ts';
import type { Node } from './schema-node.ts';

/** What the validation has to know of a kind of ours. */
export interface ResourceKind {
  readonly kind: string;
  readonly spec: Node;
  readonly status: Node;
  /** What its name has to be. */
  readonly objectRules: readonly Rule[];
  /** A name, for messages. */
  readonly example: string;
  /** What to say of a document without a spec. */
  readonly firstWords: string;
}

export const databaseServiceKind: ResourceKind = {
  kind,
  ...partsOf(openApiSchema()),
  objectRules,
  example: 'orders',
  firstWords: 'say at least engine, version and storage',
};

export const gitDestinationResourceKind: ResourceKind = {
  kind: gitDestinationKind,
  ...partsOf(gitDestinationSchema()),
  objectRules: gitDestinationRules,
  example: 'main',
  firstWords: 'say at least url',
};

function partsOf({ properties = {} }: Node): Pick<ResourceKind, 'spec' | 'status'> {
  const { spec = {}, status = {} }: Readonly<Record<string, Node>> = properties;
  return { spec, status };
}
