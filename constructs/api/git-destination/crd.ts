import { definitionOf, objectSchema } from '../definition.ts';
import { group } from '../resource.ts';
import type { Rule } from '../rule.ts';
import type { Node } from '../schema-node.ts';
import { gitDestinationKind as kind, gitDestinationPlural as plural } from './resource.ts';
import { Spec } from './spec.ts';
import { Status } from './status.ts';

/** Rules over the whole object: a CRD may say no more of metadata than what its name is. */
export const gitDestinationRules: readonly Rule[] = [
  {
    rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 63",
    message: 'must have only a-z, 0-9 and -, begin and end with a letter or digit, and be at most 63 long',
    fieldPath: '.metadata.name',
  },
];

const readyOf = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;

const columns = [
  { name: 'URL', type: 'string', jsonPath: '.spec.url', description: 'The repository.' },
  { name: 'Branch', type: 'string', jsonPath: '.spec.branch', description: 'The branch; empty for main.' },
  { name: 'Ready', type: 'string', jsonPath: readyOf('status'), description: 'Whether it takes commits.' },
  { name: 'Reason', type: 'string', jsonPath: readyOf('reason'), description: 'Why, in one word.' },
  { name: 'Last push', type: 'date', jsonPath: '.status.lastPushTime', description: 'When it last took one.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Commit', type: 'string', jsonPath: '.status.lastCommit', priority: 1, description: 'The last commit.' },
] as const;

/** Where the CRD stands in `crds/` and in `dist/crds/`. */
export const gitDestinationFile = `${group}_${plural}.yaml`;

/** The CustomResourceDefinition, from the same schema as the types and the offline validation. */
export function gitDestinationDefinition(): Record<string, unknown> {
  return definitionOf({
    kind,
    plural,
    scope: 'Cluster',
    shortName: 'gitdest',
    schema: gitDestinationSchema(),
    subresources: { status: {} },
    columns,
  });
}

/** The schema as plain JSON: what the CRD carries and what offline validation reads. */
export function gitDestinationSchema(): Node {
  const description = 'A branch of a Git repository that databases are delivered to.';
  return objectSchema({ kind, description, spec: Spec, status: Status, rules: gitDestinationRules });
}
