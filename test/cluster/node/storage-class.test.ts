import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mebibytes } from './storage-class.ts';

test('the size of a claim in MiB', () => {
  const sizes = { '20Mi': 20, '2Gi': 2048, '1.5Gi': 1536, '1Ti': 1048576, '1G': 954, '1048576': 1, '1048577': 2 };
  for (const [quantity, size] of Object.entries(sizes)) assert.equal(mebibytes(quantity), size, quantity);
  assert.throws(() => mebibytes('1Zi'), { message: '1Zi is not a size of a volume.' });
});
