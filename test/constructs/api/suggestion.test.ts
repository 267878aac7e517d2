import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { suggestion } from '../../../constructs/api/suggestion.ts';

const known = ['engine', 'replicas', 'storage', 'size', 'storageClass', 'phase', 'tls'];

describe('the word that was meant', () => {
  const cases: readonly [word: string, meant: string | undefined][] = [
    ['replica', 'replicas'],
    ['Replicas', 'replicas'],
    ['replcias', 'replicas'],
    ['sise', 'size'],
    ['siez', 'size'],
    ['fase', 'phase'],
    ['storageClassName', 'storageClass'],
    ['storrage', 'storage'],
    ['labels', undefined],
    ['x', undefined],
    ['', undefined],
    ['monitoring', undefined],
  ];
  for (const [word, meant] of cases) test(`${word} → ${meant}`, () => assert.equal(suggestion(word, known), meant));
});
