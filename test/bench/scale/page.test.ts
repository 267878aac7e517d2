import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { stagesOf } from '../scale.ts';
import type { Run } from './figure-file.ts';
import { describe } from './page.ts';
import { filesOf, published } from './publish.ts';

test('a fleet grows in stages of a fifth of the next, none of them too small to tell anything', () => {
  assert.deepEqual(stagesOf(5000), [200, 1000, 5000]);
  assert.deepEqual(stagesOf(1000), [40, 200, 1000]);
  assert.deepEqual(stagesOf(100), [20, 100]);
  assert.deepEqual(stagesOf(10), [10]);
});

test('a page has a column for each stage, and says what was wanted of which', () => {
  const stages = [
    { databases: 1000, restingMiB: 120, restartSeconds: 2.5 },
    { databases: 5000, restingMiB: 280 },
  ];
  const page = describe({ date: '2026-11-30', cores: 2, load: 0.5, stages });
  assert.match(page, /\| databases \| 1,000 \| 5,000 \| wanted \|/);
  assert.match(page, /\| … at rest, MiB \| 120 \| 280 \| ≤ 150, then ≤ 300 \|/);
  assert.match(page, /\| a restart, [^|]+ \| 2.5 \|  \| ≤ 3, then ≤ 12 \|/);
});

test('the documentation says what the run found that it tells of', () => {
  if (!existsSync(published)) return;
  const run = JSON.parse(readFileSync(published, 'utf8')) as Run;
  for (const [name, text] of filesOf(run)) {
    assert.equal(readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8'), text, name);
  }
});
