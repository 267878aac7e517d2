import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenFiles, goldenNames, goldenOnDisk } from '../golden.ts';

test('there are at least eight', () => {
  assert.ok(goldenNames().length >= 8);
});

for (const name of goldenNames()) {
  test(`golden ${name}: as it was rendered before; \`npm run golden\` after a change that is meant`, () => {
    const [expected, found] = [goldenOnDisk(name), goldenFiles(name)];
    assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
    for (const [file, text] of found) assert.equal(text, expected.get(file), file);
  });
}
