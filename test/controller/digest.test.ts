import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '../../controller/digest.ts';

test('a digest is spelled as the histories in clusters have it', () => {
  const spellings = [{ a: 1 }, undefined, ['2026', { 'f:spec': {} }]].map(digest);
  assert.deepEqual(spellings, ['AVq9f1zFei3ZS3WQ8ErYCE', '47DEQpj8HBSa-_TImW-5JC', 'InBqpeQQQjJb8H6HU67sCf']);
});
