import { keptAnnotations } from '../kept.ts';
import { group, version } from '../resource.ts';
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
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: { 'app.kubernetes.io/name': 'plumbline', 'app.kubernetes.io/part-of': 'plumbline' },
      annotations: keptAnnotations,
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: ['gitdest'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: gitDestinationSchema() },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

/** The schema as plain JSON: what the CRD carries and what offline validation reads. */
export function gitDestinationSchema(): Node {
  const schema = {
    type: 'object',
    description: 'A branch of a Git repository that databases are delivered to.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `${group}/${version}` },
      kind: { type: 'string', description: kind },
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } },
      spec: Spec,
      status: Status,
    },
    'x-kubernetes-validations': gitDestinationRules,
  };
  return JSON.parse(JSON.stringify(schema)) as Node;
}
