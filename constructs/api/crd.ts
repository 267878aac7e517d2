import { definitionOf, objectSchema } from './definition.ts';
import { group, kind, maxNameLength, plural } from './resource.ts';
import type { Rule } from './rule.ts';
import type { Node } from './schema-node.ts';
import { Spec } from './spec.ts';
import { Status } from './status.ts';

/** Rules over the whole object: a CRD may say no more of metadata than what its name is. */
export const objectRules: readonly Rule[] = [
  {
    rule: `self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= ${maxNameLength}`,
    message: `must begin with a letter, have only a-z, 0-9 and -, no dots, not end with -, and be at most ${maxNameLength} long`,
    fieldPath: '.metadata.name',
  },
];

const columns = [
  { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'The state in one word.' },
  { name: 'Ready', type: 'string', jsonPath: '.status.ready', description: 'Ready of wanted members.' },
  { name: 'Engine', type: 'string', jsonPath: '.spec.engine', description: 'The database engine.' },
  { name: 'Version', type: 'string', jsonPath: '.spec.version', description: 'Version of the engine.' },
  { name: 'Primary', type: 'string', jsonPath: '.status.primary', description: 'Pod of the primary.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Storage', type: 'string', jsonPath: '.spec.storage.size', priority: 1, description: 'Size of each volume.' },
  {
    name: 'Last backup',
    type: 'date',
    jsonPath: '.status.backup.lastSuccessTime',
    priority: 1,
    description: 'How long ago the last good backup ended.',
  },
  {
    name: 'Drift',
    type: 'integer',
    jsonPath: '.status.drift.corrected',
    priority: 1,
    description: 'Foreign changes put back.',
  },
  {
    name: 'Paused until',
    type: 'string',
    jsonPath: '.status.pausedUntil',
    priority: 1,
    description: 'Until when no drift is corrected.',
  },
] as const;

/** Where the CRD stands in `crds/` and in `dist/crds/`. */
export const fileName = `${group}_${plural}.yaml`;

/** The CustomResourceDefinition, from the same schema as the types and the offline validation. */
export function customResourceDefinition(): Record<string, unknown> {
  return definitionOf({
    kind,
    plural,
    scope: 'Namespaced',
    shortName: 'dbs',
    categories: ['all'],
    schema: openApiSchema(),
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    },
    columns,
  });
}

/** The schema as plain JSON: what the CRD carries and what offline validation reads. */
export function openApiSchema(): Node {
  const description = 'A database, and everything around it, as one object.';
  return objectSchema({ kind, description, spec: Spec, status: Status, rules: objectRules });
}
