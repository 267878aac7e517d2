import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

test('no file has a hook for each test outside of a `describe`: it would run for each test of all files that share the process', () => {
  const files = globSync('**/*.{test,cluster,command}.ts', { cwd: folder });
  assert(files.length > 200);
  const found = files.filter((file) => /^(?:before|after)Each\(/m.test(readFileSync(`${folder}${file}`, 'utf8')));
  assert.deepEqual(found, []);
});
