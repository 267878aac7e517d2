import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { run, TemporaryFolder } from './command.ts';

test('what the installation of packages says is not in the output of the command that follows', async () => {
  // GIVEN a project without packages, so that none is fetched
  using folder = new TemporaryFolder();
  folder.copy('install.mjs');
  const project = { name: 'empty', version: '1.0.0' };
  const lock = { ...project, lockfileVersion: 3, requires: true, packages: { '': project } };
  writeFileSync(folder.in('package.json'), JSON.stringify(project));
  writeFileSync(folder.in('package-lock.json'), JSON.stringify(lock));

  // WHEN
  const { code, stdout, stderr } = await run(process.execPath, ['install.mjs'], { cwd: folder.path });

  // THEN
  assert.equal(code, 1, 'there is no node in it');
  assert.equal(stdout, '');
  assert.match(stderr, /^Installing packages \(npm ci\) …\n[^]*node_modules\/\.bin\/node is not Node 24\. /);
});
