import assert from 'node:assert/strict';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { project, run } from '../commands/command.ts';
import { reasons } from './reasons.ts';
import { suspects } from './secret.ts';

const { stdout } = await run('git', ['ls-files', '-z']);
const files = stdout.split('\0').filter((path) => lstatSync(join(project, path), { throwIfNoEntry: false })?.isFile());
const found = files.flatMap((path) => {
  return suspects(readFileSync(join(project, path), 'utf8')).map((suspect) => ({ path, ...suspect }));
});

test('no file in Git has a secret in it, or there is a reason', () => {
  assert(files.includes('package.json'));
  const unexplained = found.filter(({ path, text }) => !reasons.some((one) => one.path === path && one.text === text));
  // Without the text: what this prints is kept longer than what it is about.
  const told = unexplained.map(
    ({ path, line, kind }) => `${path}:${line} looks like a ${kind}: see test/secrets/reasons.ts`,
  );
  assert.deepEqual(told, []);
});

test('each reason is needed', () => {
  const needless = reasons.filter((one) => !found.some(({ path, text }) => path === one.path && text === one.text));
  assert.deepEqual(needless, []);
});

test('no Secret is among the manifests', () => {
  const manifests = files.filter((path) => /^(dist|examples|crds)\/|^test\/fixtures\/golden\//.test(path));
  assert(manifests.length > 100);
  const withSecret = manifests.filter((path) => /^kind: Secret$/m.test(readFileSync(join(project, path), 'utf8')));
  assert.deepEqual(withSecret, []);
});
