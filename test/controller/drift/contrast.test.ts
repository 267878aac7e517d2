import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contrast } from '../../../controller/drift/contrast.ts';

const tcp = (port: number) => ({ ports: [{ port, protocol: 'TCP' }], from: [{ podSelector: {} }] });
const rule = (verb: string) => ({ apiGroups: [''], resources: ['pods'], verbs: [verb] });

describe('of two values only what differs is shown', () => {
  for (const [name, was, now, expected] of [
    ['a rule that lets in the world', [tcp(5432), tcp(8008)], [tcp(5432), tcp(8008), {}], { was: [], now: [{}] }],
    ['a rule that was taken away', [tcp(5432), tcp(8008)], [tcp(8008)], { was: [tcp(5432)], now: [] }],
    [
      'a rule that was widened',
      [rule('get'), rule('list')],
      [rule('get'), rule('*')],
      { was: [rule('list')], now: [rule('*')] },
    ],
    ['a rule that was doubled', [rule('get')], [rule('get'), rule('get')], { was: [], now: [rule('get')] }],
    ['another order', ['a', 'b'], ['b', 'a'], { was: ['a', 'b'], now: ['b', 'a'] }],
    ['one key of a map', { a: '1', b: '2' }, { a: '1', b: '3' }, { was: { b: '2' }, now: { b: '3' } }],
    ['a key that was added to a map', { a: '1' }, { a: '1', b: '3' }, { was: {}, now: { b: '3' } }],
    ['a text', 'a', 'b', { was: 'a', now: 'b' }],
    ['a list that became nothing', ['a'], undefined, { was: ['a'], now: undefined }],
  ] as const) {
    test(name, () => assert.deepEqual(contrast(was, now), expected));
  }
});
