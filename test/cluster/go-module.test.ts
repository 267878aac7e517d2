import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { goModule } from './go-module.ts';
import { discardFolder } from '../discard-folder.ts';

test('a module is built again when its pins or its programs change, and for nothing else', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'go-module-'));
  t.after(() => discardFolder(folder));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const key = (): string => goModule({ name: 'one', folder, version: 'v1', packages: { one: 'example.com/one' } }).key;
  for (const name of ['go.mod', 'go.sum', 'main.go']) write(name, 'first');
  const first = key();
  write('README.md', 'words');
  assert.equal(key(), first);
  const keys = ['go.mod', 'go.sum', 'main.go'].map((name) => {
    write(name, 'second');
    return key();
  });
  assert.equal(new Set([first, ...keys]).size, 4);
});
