import { isIP } from 'node:net';
import { Environment } from '@marcbachmann/cel-js';
import type { Rule } from './kubernetes-schema.ts';
import { Quantity } from './quantity.ts';

/** The functions that Kubernetes adds to CEL, as far as our rules use them. Source: https://kubernetes.io/docs/reference/using-api/cel/ */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxListElements: 4096, maxAstNodes: 100_000 },
})
  .registerType('Quantity', Quantity)
  .registerFunction('quantity(string): Quantity', (text: string) => {
    const quantity = Quantity.parse(text);
    if (!quantity) throw new Error(`${text} is not a quantity`);
    return quantity;
  })
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => a.compareTo(b) > 0)
  .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) => BigInt(a.compareTo(b)))
  .registerFunction('Quantity.isInteger(): bool', (a: Quantity) => a.isInteger())
  .registerFunction('isCIDR(string): bool', isCidr);

type Program = (context: Record<string, unknown>) => unknown;
const programs = new Map<string, Program>();

/**
 * Evaluates a rule as the API server does.
 *
 * @returns undefined when it holds, else the message. A transition rule (one that reads `oldSelf`) holds where there is no old value.
 */
export function violation(rule: Rule, self: unknown, oldSelf: unknown): string | undefined {
  if (isTransition(rule) && oldSelf === undefined) return undefined;
  const context = { self: toCel(self), oldSelf: toCel(oldSelf) };
  try {
    if (program(rule.rule)(context) === true) return undefined;
    return rule.messageExpression
      ? String(program(rule.messageExpression)(context))
      : (rule.message ?? `failed rule: ${rule.rule}`);
  } catch (error) {
    // The API server refuses too when a rule cannot be evaluated.
    const cause = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return `${rule.message ?? rule.rule} (${cause})`;
  }
}

export function isTransition(rule: Rule): boolean {
  return /\boldSelf\b/.test(rule.rule);
}

function program(expression: string): Program {
  const known = programs.get(expression);
  if (known) return known;
  const parsed: Program = environment.parse(expression);
  programs.set(expression, parsed);
  return parsed;
}

/** Whole numbers are `int` in Kubernetes' CEL; a JavaScript number would be a `double`. */
function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
  }
  return value;
}

/** As `netip.ParsePrefix`: an address without zone, a slash, and a length without leading zeros. */
function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  return (
    rest.length === 0 &&
    family !== 0 &&
    /^(0|[1-9]\d{0,2})$/.test(length) &&
    Number(length) <= (family === 4 ? 32 : 128)
  );
}
