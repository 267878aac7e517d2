import { expression, inWords } from './patterns.ts';
import { join, show, type Problem } from './problem.ts';
import { childOf, isFields, type Fields, type Node } from './schema-node.ts';
import { suggestion } from './suggestion.ts';

/** Judges a value by the types and bounds of its schema: required fields, sizes, enumerations, patterns. Unknown fields are not its business. */
export function shapeProblems(node: Node, value: unknown, path: string): readonly Problem[] {
  const wrong: Wrong = (rule, remedy = '') => [{ field: path, value: show(value), rule, remedy }];
  if (node['x-kubernetes-int-or-string']) {
    if (typeof value === 'string') return text(node, value, wrong);
    return isWhole(value) ? [] : wrong('must be text or a whole number', quoted(value) || example(node));
  }
  if (node.type === undefined) return [];
  switch (node.type) {
    case 'object':
      return isFields(value) ? fields(node, value, path) : wrong('must be an object', example(node));
    case 'array':
      return Array.isArray(value) ? items(node, value, path, wrong) : wrong('must be a list', example(node));
    case 'string':
      return typeof value === 'string' ? text(node, value, wrong) : wrong('must be text', quoted(value, node.enum));
    case 'integer':
      return isWhole(value) ? bounds(node, value, wrong) : wrong('must be a whole number', unquoted(value));
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong('must be true or false');
  }
}

type Wrong = (rule: string, remedy?: string) => readonly Problem[];

function fields(node: Node, value: Fields, path: string): readonly Problem[] {
  const missing = (node.required ?? [])
    .filter((name) => value[name] === undefined)
    .map((name) => ({
      field: join(path, name),
      value: undefined,
      rule: 'is required',
      remedy: example(childOf(node, name) ?? {}),
    }));
  const entries = Object.entries(value);
  const most = node.maxProperties ?? Infinity;
  const tooMany = { field: path, value: undefined, rule: `must have at most ${most} entries`, remedy: '' };
  return [
    ...missing,
    ...(entries.length > most ? [tooMany] : []),
    ...entries.flatMap(([name, item]) => shapeProblems(childOf(node, name) ?? {}, item, join(path, name))),
  ];
}

function items(node: Node, value: readonly unknown[], path: string, wrong: Wrong): readonly Problem[] {
  if (node.minItems !== undefined && value.length < node.minItems)
    return wrong(`must have at least ${node.minItems} entry`, 'or leave the field out');
  if (node.maxItems !== undefined && value.length > node.maxItems)
    return wrong(`must have at most ${node.maxItems} entries`);
  return value.flatMap((item, index) => shapeProblems(node.items ?? {}, item, join(path, index)));
}

function text(node: Node, value: string, wrong: Wrong): readonly Problem[] {
  const length = Array.from(value).length;
  if (node.enum && !node.enum.includes(value)) {
    const near = suggestion(value, node.enum);
    return wrong(`must be one of ${node.enum.join(', ')}`, near ? `did you mean ${near}?` : '');
  }
  if (node.minLength !== undefined && length < node.minLength) return wrong('must not be empty', example(node));
  if (node.maxLength !== undefined && length > node.maxLength)
    return wrong(`must be at most ${node.maxLength} characters long`);
  if (node.pattern !== undefined && !expression(node.pattern).test(value))
    return wrong(inWords(node.pattern), example(node));
  return [];
}

function bounds(node: Node, value: number, wrong: Wrong): readonly Problem[] {
  if (node.minimum !== undefined && value < node.minimum) return wrong(`must be at least ${node.minimum}`);
  if (node.maximum !== undefined && value > node.maximum) return wrong(`must be at most ${node.maximum}`);
  return [];
}

/** Whether the API server takes it for an integer, which has 64 bits there. */
function isWhole(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63;
}

/** What the description gives as an example, behind "such as". */
function example(node: Node): string {
  const [, found] = /such as ('[^']*'|"[^"]*"|\S+?)[.,;]?(\s|$)/.exec(node.description ?? '') ?? [];
  return found ? `such as ${found}` : '';
}

function quoted(value: unknown, choices: readonly string[] = []): string {
  if (typeof value !== 'number' && typeof value !== 'boolean') return '';
  // YAML 1.1 reads a bare `Off` as false: where that word is a choice it was meant.
  const words = value === false ? ['off', 'no', 'n'] : ['on', 'yes', 'y'];
  const meant = typeof value === 'boolean' ? choices.find((one) => words.includes(one.toLowerCase())) : undefined;
  return `write it in quotes: "${meant ?? String(value)}"`;
}

function unquoted(value: unknown): string {
  return typeof value === 'string' && /^\d+$/.test(value) ? `write ${value} without quotes` : '';
}
