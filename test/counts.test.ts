import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { TemporaryFolder } from './commands/command.ts';
import { closingLines, outcome, type Outcome } from './counts.ts';

/** Runs a file of tests by itself, in one process as most are run. */
function run(folder: TemporaryFolder, name: string, source: string): Promise<Outcome> {
  const file = folder.in(`${name}.test.mjs`);
  writeFileSync(file, `import test, { after } from 'node:test'; ${source}`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-isolation=none', file];
  return outcome(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
}

test('what two runs of the test runner count is added up, whatever their tests print', async () => {
  using folder = new TemporaryFolder();
  const runs = await Promise.all([
    run(folder, 'a', `test('a', () => console.log('ℹ fails 9')); test.skip('b');`),
    run(folder, 'b', `test('c', () => { throw new Error('no'); });`),
  ]);
  const lines = closingLines(runs.map(({ counts }) => counts)).split('\n');
  for (const line of ['ℹ tests 3', 'ℹ pass 1', 'ℹ fail 1', 'ℹ skipped 1']) assert(lines.includes(line), line);
  assert.deepEqual(
    runs.map(({ failures }) => failures.some((line) => line.includes('Error: no'))),
    [false, true],
  );
});

test('a hook that fails after the last test is a failure, which Node does not count', async () => {
  using folder = new TemporaryFolder();
  const { counts, failures } = await run(
    folder,
    'hook',
    `after(() => { throw new Error('no'); }); test('a', () => {});`,
  );
  assert.deepEqual([counts.get('pass'), counts.get('fail'), failures[0]], [1, 0, '✖ failing tests:']);
});

for (const [what, source] of [
  ['a promise that nobody waits for', `test('a', () => void setTimeout(() => Promise.reject(new Error('no')), 20));`],
  ['a timer of no test', `setTimeout(() => { throw new Error('no'); }, 20);`],
] as const) {
  test(`what fails after its test is told, which Node does not count: ${what}`, async () => {
    using folder = new TemporaryFolder();
    const another = `test('another', () => new Promise((resolve) => setTimeout(resolve, 500)));`;
    const { counts, failures, late } = await run(folder, 'late', `${source} ${another}`);
    assert.deepEqual([counts.get('fail'), failures.length, late.length], [0, 0, 1]);
    assert.match(late[0] ?? '', /Error: no/);
  });
}

test('a password that a test prints is noticed', async () => {
  using folder = new TemporaryFolder();
  const password = `plbpw_${randomBytes(24).toString('base64url')}`;
  const runs = await Promise.all([
    run(folder, 'quiet', `test('a', () => console.log('plbpw_'));`),
    run(folder, 'loud', `test('a', () => console.log('it is ${password}.'));`),
  ]);
  assert.deepEqual(
    runs.map(({ hasTold }) => hasTold),
    [false, true],
  );
});
