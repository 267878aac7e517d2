import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { scripts as lua } from '../../constructs/argocd/scripts.ts';
import { argoScripts, embeddedScriptsSource, podScripts } from '../../constructs/embed-scripts.ts';
import { scripts } from '../../constructs/postgresql/scripts.ts';

for (const { embedded, texts } of [
  { embedded: podScripts, texts: scripts },
  { embedded: argoScripts, texts: lua },
]) {
  const { folder, path } = embedded;

  test(`${path} has the scripts of the folder: run \`npm run generate\` after a change`, () => {
    const committed = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    assert.equal(committed.replaceAll('\r\n', '\n'), embeddedScriptsSource(embedded));
  });

  test(`${path}: every script comes out to the byte, with the line endings of Unix (openwhisk-deploy-kube#432)`, () => {
    for (const [name, text] of Object.entries(texts)) {
      assert.equal(text, readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n'), name);
      assert.ok(!text.includes('\r'), name);
    }
    const files = readdirSync(folder).filter((name) => !name.startsWith('__'));
    assert.deepEqual(Object.keys(texts).sort(), files.sort());
  });
}
