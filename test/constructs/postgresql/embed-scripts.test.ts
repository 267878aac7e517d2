import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { embeddedScriptsPath, embeddedScriptsSource } from '../../../constructs/embed-scripts.ts';
import { scripts } from '../../../constructs/postgresql/scripts.ts';

const folder = new URL('../../../constructs/postgresql/scripts/', import.meta.url);

test('the embedded scripts are those of the folder: run `npm run generate` after a change', () => {
  const committed = readFileSync(new URL(`../../../${embeddedScriptsPath}`, import.meta.url), 'utf8');
  assert.equal(committed.replaceAll('\r\n', '\n'), embeddedScriptsSource());
});

test('every script comes out to the byte, with the line endings of Unix (openwhisk-deploy-kube#432)', () => {
  for (const [name, text] of Object.entries(scripts)) {
    assert.equal(text, readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n'), name);
    assert.ok(!text.includes('\r'), name);
  }
  const files = readdirSync(folder).filter((name) => !name.startsWith('__'));
  assert.deepEqual(Object.keys(scripts).sort(), files.sort());
});
