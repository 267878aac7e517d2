import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { TemporaryFolder } from './commands/command.ts';
import { closingLines, count } from './counts.ts';

test('what two runs of the test runner count is added up, whatever their tests print', async () => {
  using folder = new TemporaryFolder();
  writeFileSync(
    folder.in('a.test.mjs'),
    `import test from 'node:test'; test('a', () => console.log('ℹ fails 9')); test.skip('b');`,
  );
  writeFileSync(folder.in('b.test.mjs'), `import test from 'node:test'; test('c', () => { throw new Error('no'); });`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runs = ['a', 'b'].map((name) => {
    const file = folder.in(`${name}.test.mjs`);
    return count(spawn(process.execPath, ['--test', file], { env, stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
  });
  const lines = closingLines(await Promise.all(runs)).split('\n');
  for (const line of ['ℹ tests 3', 'ℹ pass 1', 'ℹ fail 1', 'ℹ skipped 1']) assert(lines.includes(line), line);
});
