import type { Rule } from './rule.ts';

/** The part of a structural schema that our CRD uses. Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/ */
export interface Node {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of one field of an object or one entry of a map; undefined for a field that is not known. */
export function childOf(node: Node, name: string): Node | undefined {
  const { properties } = node;
  return properties && Object.hasOwn(properties, name) ? properties[name] : node.additionalProperties;
}
