import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cidr } from '../../../constructs/api/cidr.ts';

describe('a range of addresses as Kubernetes has it', () => {
  const ranges: readonly [text: string, isRange: boolean][] = [
    ['10.0.0.0/8', true],
    ['0.0.0.0/0', true],
    ['10.1.2.3/32', true],
    ['fd00::/8', true],
    ['FD00::1/128', true],
    ['::/0', true],
    ['1:2:3:4:5:6:7:8/64', true],
    ['10.0.0.0', false],
    ['10.0.0.0/33', false],
    ['10.0.0.0/08', false],
    ['10.0.0.0/+8', false],
    ['010.0.0.0/8', false],
    ['10.0.0/8', false],
    ['fe80::1%eth0/64', false],
    ['fd00::/129', false],
    ['::ffff:10.0.0.0/104', false],
    ['10.0.0.0/8/8', false],
    ['', false],
  ];
  for (const [text, isRange] of ranges) test(text, () => assert.equal(Cidr.parse(text) !== undefined, isRange));
});

describe('a range inside another', () => {
  const cases: readonly [outer: string, inner: string, isInside: boolean][] = [
    ['10.0.0.0/8', '10.255.0.0/16', true],
    ['10.0.0.0/8', '10.0.0.0/8', true],
    ['10.0.0.0/8', '11.0.0.0/16', false],
    ['10.0.0.0/16', '10.0.0.0/8', false],
    ['0.0.0.0/0', '1.2.3.4/32', true],
    ['fd00::/8', 'fdff:1::/32', true],
    ['fd00::/8', 'fe80::/16', false],
    ['::/0', '10.0.0.0/8', false],
    ['2001:db8::/32', '2001:db8:0:1::1.2.3.4/128', true],
  ];
  for (const [outer, inner, isInside] of cases) {
    test(`${inner} in ${outer}: ${isInside}`, () => {
      const [a, b] = [Cidr.parse(outer), Cidr.parse(inner)];
      assert.ok(a && b);
      assert.equal(a.contains(b), isInside);
    });
  }
});
