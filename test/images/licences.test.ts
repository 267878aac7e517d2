import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { bundle } from '../../images/controller/bundle.ts';
import { refusals } from '../../images/controller/licences.ts';
import { notices, noticesFile } from '../../images/controller/notices.ts';
import { inController, withLibrary, type Package } from '../../images/controller/shipped.ts';
import { TemporaryFolder } from '../commands/command.ts';

const controller = await inController();
const library = withLibrary();

/** Of a package that is installed, with another licence. */
function under(licence: string, name = 'constructs'): Package {
  const found = controller.find((one) => one.name === name);
  assert(found);
  return { ...found, licence };
}

describe('what ships', () => {
  test('is known: what the bundler took, and what the npm library depends on', () => {
    const names = (packages: readonly Package[]) => new Set(packages.map(({ name }) => name));
    for (const name of ['undici', 'pino', '@peculiar/x509', 'cdk8s', 'typebox'])
      assert(names(controller).has(name), name);
    for (const name of ['esbuild', 'typescript', 'oxlint', 'fast-check', 'node'])
      assert(!names(controller).has(name), name);
    assert.deepEqual([...names(library)].sort(), [
      '@marcbachmann/cel-js',
      'argparse',
      'cdk8s',
      'cdk8s-plus-28',
      'constructs',
      'js-yaml',
      'typebox',
      'yaml',
    ]);
  });

  test('is under licences that may ship', (t) => {
    assert.deepEqual(refusals([...controller, ...library]), []);
    const counts = Object.entries(Object.groupBy(controller, ({ licence }) => licence));
    t.diagnostic(counts.map(([licence, packages = []]) => `${packages.length} ${licence}`).join(', '));
  });

  test('has its notices in the image, as `npm run notices` writes them', () => {
    assert.equal(readFileSync(noticesFile, 'utf8'), notices(controller), 'run npm run notices');
  });
});

test('the file of the controller is ASCII: V8 would keep it in two bytes for each character otherwise', async () => {
  using folder = new TemporaryFolder();
  await bundle(folder.in('controller.mjs'));
  assert.doesNotMatch(readFileSync(folder.in('controller.mjs'), 'latin1'), /[^\0-\x7f]/);
});

describe('a licence', () => {
  for (const licence of ['MIT', 'ISC', 'Apache-2.0', '0BSD', 'Unlicense', 'BSD-3-Clause']) {
    test(`${licence} may ship`, () => assert.deepEqual(refusals([under(licence)]), []));
  }

  for (const licence of [
    'GPL-3.0-only',
    'AGPL-3.0-or-later',
    'LGPL-2.1',
    'SSPL-1.0',
    '(MIT OR GPL-3.0-or-later)',
    'mit',
    'SEE LICENSE IN x',
  ]) {
    test(`${licence} may not, and it is said what to do`, () => {
      const { name, version, path } = under(licence);
      assert.deepEqual(refusals([under('MIT'), under(licence)]), [
        `${name} ${version} (${path}) is under ${licence}, which may not ship: do without it, or, where that licence asks for no more than its text, ` +
          'add it to images/controller/licences.ts',
      ]);
    });
  }

  test('that is not stated is none', () => {
    assert.match(
      refusals([under('')])[0] ?? '',
      /^constructs .* is under no licence that it states, which may not ship: /,
    );
  });
});

describe('notices', () => {
  test('have the text of the licence and the NOTICE of each package, a text that is the same once', () => {
    const text = notices(controller);
    assert.match(text, /^constructs [\d.]+ \(Apache-2.0\)$/m);
    assert.match(text, /Copyright Amazon\.com, Inc\. or its affiliates/);
    assert.match(text, /Copyright \(c\) Matteo Collina and Undici contributors/);
    for (const { name, version } of controller) assert(text.includes(`\n${name} ${version} (`), name);
    const parts = text.split(`${'-'.repeat(80)}\n`).map((part) => part.slice(part.indexOf('\n\n')));
    assert.equal(new Set(parts).size, parts.length);
  });

  test('of a package whose licence asks for its text, and which has none, cannot be written', () => {
    assert.throws(
      () => notices([under('MIT', 'stream-buffers')]),
      /^Error: stream-buffers 3\.0\.3 is under MIT and has no file with its text: ask/,
    );
    assert.doesNotThrow(() => notices([under('Unlicense', 'stream-buffers')]));
  });
});
