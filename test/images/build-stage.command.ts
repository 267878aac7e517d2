import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { project, run, TemporaryFolder } from '../commands/command.ts';

test('the Dockerfile of the controller copies what its file is built from', async () => {
  // GIVEN what the first stage copies, and the packages
  const [, stage = ''] = readFileSync(`${project}/images/controller/Dockerfile`, 'utf8').split(/^FROM .*$/m);
  const copied = [...stage.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
  const [, script = assert.fail('it builds nothing')] = /^RUN npm run --ignore-scripts (\w+)$/m.exec(stage) ?? [];
  using folder = new TemporaryFolder();
  mkdirSync(folder.in('images/controller'), { recursive: true });
  folder.copy(...copied);
  symlinkSync(`${project}/node_modules`, folder.in('node_modules'));

  // WHEN it is built as that stage does
  const { code, stderr } = await run('npm', ['run', '--ignore-scripts', script], { cwd: folder.path });

  // THEN the file is where the other stages take it from
  assert.equal(code, 0, stderr);
  assert(existsSync(folder.in('build/controller.mjs')));
});
