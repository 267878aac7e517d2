import { isTransition, violation } from './cel.ts';
import type { Rule } from './kubernetes-schema.ts';
import { inWords } from './patterns.ts';
import { join, show, type Problem } from './problem.ts';
import { suggestion } from './suggestion.ts';

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
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Judges a value by a schema node as the API server does: unknown fields (strict), types, bounds, then the rules of every node
 * that is well-formed.
 *
 * @param old the value before, for transition rules; undefined on creation
 */
export function check(node: Node, value: unknown, path: string, old?: unknown): readonly Problem[] {
  const problems = shape(node, value, path, old);
  const malformed = problems.map(
    (problem) =>
      problem.field
        .slice(path.length)
        .split(/[.[\]]/)
        .find(Boolean) ?? '',
  );
  return [...problems, ...rules(node, value, path, old, malformed)];
}

/** A copy with the defaults of the schema filled in, and without nulls where the schema has a default. */
export function withDefaults(node: Node, value: unknown): unknown {
  if (Array.isArray(value)) return node.items ? value.map((item) => withDefaults(node.items ?? {}, item)) : value;
  if (!isFields(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    if ((filled[name] === undefined || filled[name] === null) && child.default !== undefined)
      filled[name] = child.default;
    else if (filled[name] !== undefined) filled[name] = withDefaults(child, filled[name]);
  }
  return filled;
}

function shape(node: Node, value: unknown, path: string, old: unknown): Problem[] {
  const wrong = (rule: string, remedy = ''): Problem[] => [{ field: path, value: show(value), rule, remedy }];
  if (node['x-kubernetes-int-or-string']) {
    if (typeof value !== 'string' && !Number.isInteger(value))
      return wrong('must be text or a whole number', example(node));
    return typeof value === 'string' ? text(node, value, wrong) : [];
  }
  switch (node.type) {
    case 'object':
      return isFields(value)
        ? fields(node, value, path, isFields(old) ? old : undefined)
        : wrong('must be an object', example(node));
    case 'array':
      return Array.isArray(value) ? items(node, value, path, wrong) : wrong('must be a list', example(node));
    case 'string':
      return typeof value === 'string' ? text(node, value, wrong) : wrong('must be text', quoted(value));
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
        ? bounds(node, value, wrong)
        : wrong(
            'must be a whole number',
            typeof value === 'string' && /^\d+$/.test(value) ? `write ${value} without quotes` : '',
          );
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong('must be true or false');
    case undefined:
      return [];
  }
}

type Wrong = (rule: string, remedy?: string) => Problem[];

function fields(node: Node, value: Fields, path: string, old: Fields | undefined): Problem[] {
  const properties = node.properties ?? {};
  const known = Object.keys(properties);
  const problems: Problem[] = [];
  for (const name of node.required ?? []) {
    if (value[name] !== undefined) continue;
    const child = properties[name];
    problems.push({
      field: join(path, name),
      value: undefined,
      rule: 'is required',
      remedy: child ? example(child) : '',
    });
  }
  if (node.maxProperties !== undefined && Object.keys(value).length > node.maxProperties) {
    problems.push({
      field: path,
      value: undefined,
      rule: `must have at most ${node.maxProperties} entries`,
      remedy: '',
    });
  }
  for (const [name, item] of Object.entries(value)) {
    const child = Object.hasOwn(properties, name) ? properties[name] : node.additionalProperties;
    const field = join(path, name);
    if (!child) {
      const near = suggestion(name, known);
      const remedy = near ? `did you mean ${near}?` : `known here: ${known.join(', ')}`;
      problems.push({ field, value: show(item), rule: 'is not a known field', remedy });
    } else {
      problems.push(...check(child, item, field, old?.[name]));
    }
  }
  return problems;
}

function items(node: Node, value: readonly unknown[], path: string, wrong: Wrong): Problem[] {
  if (node.minItems !== undefined && value.length < node.minItems)
    return wrong(`must have at least ${node.minItems} entry`);
  if (node.maxItems !== undefined && value.length > node.maxItems)
    return wrong(`must have at most ${node.maxItems} entries`);
  // Our lists are atomic: an item has no old value to be compared with.
  return value.flatMap((item, index) => check(node.items ?? {}, item, join(path, index)));
}

function text(node: Node, value: string, wrong: Wrong): Problem[] {
  const length = Array.from(value).length;
  if (node.enum && !node.enum.includes(value)) {
    const near = suggestion(value, node.enum);
    return wrong(`must be one of ${node.enum.join(', ')}`, near ? `did you mean ${near}?` : '');
  }
  if (node.minLength !== undefined && length < node.minLength) return wrong('must not be empty', example(node));
  if (node.maxLength !== undefined && length > node.maxLength)
    return wrong(`must be at most ${node.maxLength} characters long`);
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) {
    return wrong(inWords(node.pattern), example(node));
  }
  return [];
}

function bounds(node: Node, value: number, wrong: Wrong): Problem[] {
  if (node.minimum !== undefined && value < node.minimum) return wrong(`must be at least ${node.minimum}`);
  if (node.maximum !== undefined && value > node.maximum) return wrong(`must be at most ${node.maximum}`);
  return [];
}

/** Rules that speak of a malformed field are left out: what they would say is a consequence. */
function rules(node: Node, value: unknown, path: string, old: unknown, malformed: readonly string[]): Problem[] {
  return (node['x-kubernetes-validations'] ?? []).flatMap((rule) => {
    if (malformed.some((name) => rule.rule.includes(name))) return [];
    const message = violation(rule, value, old);
    if (message === undefined) return [];
    const field = path + (rule.fieldPath ?? '');
    const at = rule.fieldPath ? rule.fieldPath.slice(1).split('.') : [];
    const remedy = isTransition(rule) ? `it was ${show(dig(old, at)) ?? 'absent'}` : '';
    return [{ field, value: show(dig(value, at)), rule: message, remedy }];
  });
}

const dig = (value: unknown, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), value);

/** What the description gives as an example, behind "such as". */
function example(node: Node): string {
  const found = /such as (.+?)\.?$/.exec((node.description ?? '').split(/[;:] |\. /)[0] ?? '');
  return found ? `such as ${found[1]}` : '';
}

function quoted(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? `write it in quotes: "${String(value)}"` : '';
}
