import { toCel, violation } from './cel.ts';
import { isWithin, join, show, type Problem } from './problem.ts';
import { isKeyRule, isTransition, type Rule } from './rule.ts';
import { childOf, isFields, type Node } from './schema-node.ts';

/**
 * Judges a value by the CEL rules of its schema.
 *
 * @param old the value before, for transition rules; undefined on creation
 * @param malformed fields that are known to be wrong: a rule that speaks of one is left out, for what it would say is a consequence
 */
export function ruleProblems(
  node: Node,
  value: unknown,
  path: string,
  old: unknown,
  malformed: readonly string[],
): readonly Problem[] {
  return walk(node, { raw: value, cel: toCel(value) }, { raw: old, cel: toCel(old) }, path, malformed);
}

/** A value as it was read, and as CEL has it. */
interface Both {
  readonly raw: unknown;
  readonly cel: unknown;
}

function walk(node: Node, value: Both, old: Both, path: string, malformed: readonly string[]): readonly Problem[] {
  if (value.raw === undefined || value.raw === null || malformed.includes(path)) return [];
  const own = ownRules(node, value, old, path, malformed);
  if (Array.isArray(value.raw)) {
    // Our lists are atomic: an item has no old value to be compared with.
    const items = value.raw.map((raw, index) => ({ raw, cel: at(value.cel, index) }));
    return [...own, ...items.flatMap((item, i) => walk(node.items ?? {}, item, nothing, join(path, i), malformed))];
  }
  if (!isFields(value.raw)) return own;
  const inner = Object.keys(value.raw).flatMap((name) => {
    const child = childOf(node, name);
    return child ? walk(child, field(value, name), field(old, name), join(path, name), malformed) : [];
  });
  return [...own, ...inner];
}

const nothing: Both = { raw: undefined, cel: undefined };

function ownRules(node: Node, value: Both, old: Both, path: string, malformed: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    if (speaksOf(rule, path, malformed)) continue;
    if (isKeyRule(rule)) {
      problems.push(...keyProblems(rule, value, path));
      continue;
    }
    const message = violation(rule, value.cel, old.cel);
    if (message === undefined) continue;
    const keys = (rule.fieldPath ?? '').split('.').filter(Boolean);
    const remedy = isTransition(rule) ? `it was ${show(dig(old.raw, keys)) ?? 'absent'}` : '';
    problems.push({ field: keys.reduce(join, path), value: show(dig(value.raw, keys)), rule: message, remedy });
    // The rules on one value go from the general to the particular: the first says it.
    if (!isFields(value.raw)) break;
  }
  return problems;
}

function keyProblems(rule: Rule, map: Both, path: string): readonly Problem[] {
  return Object.keys(isFields(map.raw) ? map.raw : {}).flatMap((key) => {
    const entry = field(map, key);
    const message = violation(rule, new Map([[key, entry.cel]]), undefined);
    return message === undefined ? [] : [{ field: join(path, key), value: show(entry.raw), rule: message, remedy: '' }];
  });
}

/** Whether a rule reads a field that is malformed, or something inside or around one. */
function speaksOf(rule: Rule, path: string, malformed: readonly string[]): boolean {
  if (malformed.length === 0) return false;
  const read = Array.from(
    rule.rule.matchAll(/\b(?:self|oldSelf)((?:\.[A-Za-z]\w*)+)(?![\w(])/g),
    (match) => path + match[1],
  );
  const deepest = read.filter((one) => !read.some((other) => other.startsWith(`${one}.`)));
  return deepest.some((one) => malformed.some((field) => isWithin(one, field) || isWithin(field, one)));
}

function dig(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce(at, value);
}

function field(value: Both, name: string): Both {
  return { raw: at(value.raw, name), cel: at(value.cel, name) };
}

function at(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown;
  if (value instanceof Map) return value.get(key);
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
