import { Environment } from '@marcbachmann/cel-js';
import { Cidr } from './cidr.ts';
import { Quantity } from './quantity.ts';
import { isTransition, type Rule } from './rule.ts';

/** The functions that Kubernetes adds to CEL, as far as our rules use them. Source: https://kubernetes.io/docs/reference/using-api/cel/ */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxListElements: 4096, maxAstNodes: 100_000 },
})
  .registerType('Quantity', Quantity)
  .registerFunction('quantity(string): Quantity', (text: string) =>
    known(Quantity.parse(text), `${text} is no quantity`),
  )
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => a.compareTo(b) > 0)
  .registerFunction('Quantity.isLessThan(Quantity): bool', (a: Quantity, b: Quantity) => a.compareTo(b) < 0)
  .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) => BigInt(a.compareTo(b)))
  .registerType('Cidr', Cidr)
  .registerFunction('isCIDR(string): bool', (text: string) => Cidr.parse(text) !== undefined)
  .registerFunction('cidr(string): Cidr', (text: string) => known(Cidr.parse(text), `${text} is no range`))
  .registerFunction('Cidr.prefixLength(): int', (range: Cidr) => BigInt(range.length))
  .registerFunction('Cidr.containsCIDR(string): bool', (outer: Cidr, inner: string) =>
    outer.contains(known(Cidr.parse(inner), `${inner} is no range`)),
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  )
  .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    Array.from(text.matchAll(new RegExp(pattern, 'g')), (match) => match[0]),
  );

type Program = (context: Record<string, unknown>) => unknown;
const programs = new Map<string, Program>();

/**
 * Evaluates a rule as the API server does.
 *
 * @param self the value as CEL has it, see {@link toCel}
 * @param oldSelf the value before; undefined where there is none, and then a transition rule holds
 * @returns undefined when it holds, else the message
 */
export function violation(rule: Rule, self: unknown, oldSelf: unknown): string | undefined {
  if (isTransition(rule) && oldSelf === undefined) return undefined;
  const context = { self, oldSelf };
  try {
    if (program(rule.rule)(context) === true) return undefined;
    return rule.messageExpression
      ? String(program(rule.messageExpression)(context))
      : (rule.message ?? `breaks the rule ${rule.rule}`);
  } catch (error) {
    // The API server refuses too when a rule cannot be evaluated.
    const cause = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return `${rule.message ?? rule.rule} (${cause})`;
  }
}

/** A JSON value as CEL has it: whole numbers are `int`, not `double`; and a Map, for an object may have a key such as `constructor`. */
export function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value !== null && typeof value === 'object')
    return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
  return value;
}

function program(expression: string): Program {
  const parsed = programs.get(expression);
  if (parsed) return parsed;
  const fresh: Program = environment.parse(expression);
  programs.set(expression, fresh);
  return fresh;
}

function known<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new Error(problem);
  return value;
}
