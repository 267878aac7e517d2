import { keptAnnotations } from './kept.ts';
import { group, version } from './resource.ts';
import type { Rule } from './rule.ts';
import type { Node } from './schema-node.ts';

/** What one kind's CustomResourceDefinition says that others do not. */
export interface Definition {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly shortName: string;
  readonly categories?: readonly string[];
  readonly schema: Node;
  readonly subresources: object;
  readonly columns: readonly object[];
}

/** A CustomResourceDefinition of the one version that there is. */
export function definitionOf(definition: Definition): Record<string, unknown> {
  const { kind, plural, scope, shortName, categories, schema, subresources, columns } = definition;
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
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        ...(categories === undefined ? {} : { categories }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources,
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

/** What the schema of one kind says that others do not. */
export interface ObjectSchema {
  readonly kind: string;
  readonly description: string;
  readonly spec: object;
  readonly status: object;
  /** Rules over the whole object: a CRD may say no more of metadata than what its name is. */
  readonly rules: readonly Rule[];
}

/** A schema as plain JSON: what a CRD carries and what offline validation reads. */
export function objectSchema({ kind, description, spec, status, rules }: ObjectSchema): Node {
  const schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `${group}/${version}` },
      kind: { type: 'string', description: kind },
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } },
      spec,
      status,
    },
    'x-kubernetes-validations': rules,
  };
  return JSON.parse(JSON.stringify(schema)) as Node;
}
