import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { OutputError, OutputFolder } from '../../constructs/output-folder.ts';
import { outputFolders } from '../../constructs/output-layout.ts';
import { filesBelow } from '../commands/files-below.ts';
import { discardFolder } from '../discard-folder.ts';

const manifest = join('crds', 'service.orders.yaml');

/** A folder with an output of an earlier run. */
function setUp(t: TestContext): { folder: string; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  t.after(() => discardFolder(folder));
  const output = join(folder, 'dist');
  for (const name of outputFolders) mkdirSync(join(output, name), { recursive: true });
  writeFileSync(join(output, manifest), 'old\n');
  return { folder, output };
}

test('a folder takes the place of another, of which nothing is left', (t) => {
  const { folder, output } = setUp(t);
  const found = new OutputFolder(output, []);
  const fresh = found.stage();
  mkdirSync(join(fresh, 'crds'));
  writeFileSync(join(fresh, manifest), 'new\n');
  found.replaceBy(fresh);
  assert.deepEqual(readdirSync(folder), ['dist']);
  assert.deepEqual(filesBelow(output), { [manifest]: 'new\n' });
});

test('what was moved aside is put back when nothing can take its place', (t) => {
  const { folder, output } = setUp(t);
  const found = new OutputFolder(output, []);
  assert.throws(() => found.replaceBy(join(folder, 'nowhere')), /nothing can be put in its place \(ENOENT\)/);
  assert.deepEqual(readdirSync(folder), ['dist']);
  assert.deepEqual(filesBelow(output), { [manifest]: 'old\n' });
});

test('what somebody puts there meanwhile is not replaced', (t) => {
  const { folder, output } = setUp(t);
  const found = new OutputFolder(output, []);
  const fresh = found.stage();
  writeFileSync(join(output, 'notes.txt'), 'mine\n');
  assert.throws(() => found.replaceBy(fresh), OutputError);
  rmSync(fresh, { recursive: true });
  assert.deepEqual(readdirSync(folder), ['dist']);
  assert.deepEqual(filesBelow(output), { [manifest]: 'old\n', 'notes.txt': 'mine\n' });
});

test('the unfinished folder of a run that goes on is left alone, as is one that holds something else', (t) => {
  const { folder, output } = setUp(t);
  const names = [`.dist.new-${process.pid}-0123456789ab`, '.dist.new-999999999-0123456789ab'];
  for (const name of names) mkdirSync(join(folder, name));
  writeFileSync(join(folder, names[1] ?? '', 'notes.txt'), 'mine\n');
  assert.ok(new OutputFolder(output, []));
  assert.deepEqual(readdirSync(folder).sort(), [...names.toSorted(), 'dist']);
});
