import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toCel, violation } from '../../../constructs/api/cel.ts';
import type { Rule } from '../../../constructs/api/rule.ts';

function holds(rule: string, self: unknown, oldSelf?: unknown): boolean {
  return (
    violation({ rule, message: 'no' }, toCel(self), oldSelf === undefined ? undefined : toCel(oldSelf)) === undefined
  );
}

describe('the functions of Kubernetes in CEL', () => {
  const cases: readonly [rule: string, self: unknown, result: boolean][] = [
    ["quantity('1.5Gi').isGreaterThan(quantity('1536Mi'))", null, false],
    ["quantity(string(self)).isLessThan(quantity('8Ei'))", 10, true],
    ["quantity(self).compareTo(quantity('1k')) == 0", '1000', true],
    ['isCIDR(self)', '10.0.0.0/8', true],
    ["isCIDR(self) && cidr(self).containsCIDR('10.1.0.0/16')", '10.0.0.0/8', true],
    ['cidr(self).prefixLength() == 8', 'fd00::/8', true],
    ["self.replace('a', 'b') == 'bcb'", 'aca', true],
    ["self.findAll('[0-9]+') == ['1', '22']", 'a1b22', true],
    ['size(self) == 1', '😀', true],
    ['self == 3', 3, true],
    ['self.a == 3 && self.b == 1.5', { a: 3, b: 1.5 }, true],
    ["'constructor' in self && self.all(k, k == 'constructor')", { constructor: 'x' }, true],
    ['has(self.a) && !has(self.b)', { a: '' }, true],
  ];
  for (const [rule, self, result] of cases)
    test(`${rule} on ${JSON.stringify(self)}`, () => assert.equal(holds(rule, self), result));
});

test('a transition rule holds where there is no old value', () => {
  assert.equal(holds('self == oldSelf', 1), true);
  assert.equal(holds('self == oldSelf', 1, 2), false);
});

test('a rule that cannot be evaluated is broken, and says why', () => {
  const rule: Rule = { rule: "quantity(self).isGreaterThan(quantity('0'))", message: 'must be more than nothing' };
  assert.match(violation(rule, 'many', undefined) ?? '', /must be more than nothing \(.*many is no quantity/);
});

test('a message may be an expression', () => {
  const rule: Rule = { rule: 'self == 1', messageExpression: "'not 1: ' + string(self)" };
  assert.equal(violation(rule, toCel(2), undefined), 'not 1: 2');
});
