import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { controllerOnly } from '../../constructs/standalone.ts';
import { validateText } from '../../constructs/api/validate.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(project, 'docs')).map((page) => `docs/${page}`),
].filter((page) => page.endsWith('.md'));

describe('documentation', () => {
  for (const page of pages) {
    const text = readFileSync(join(project, page), 'utf8');

    test(`${page}: every npm script that it names exists`, () => {
      const named = [...text.matchAll(/npm (?:run )?([a-z][a-z:]*)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !['run', 'itself'].includes(name));
      for (const name of named)
        assert.ok(
          name in packageJson.scripts || ['audit', 'ci', 'scripts', 'install'].includes(name),
          `npm run ${name}`,
        );
    });

    test(`${page}: every link inside the project leads somewhere`, () => {
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
      for (const link of links) assert.ok(existsSync(join(project, dirname(page), link)), link);
    });

    test(`${page}: every DatabaseService in it is valid`, () => {
      const blocks = [...text.matchAll(/```yaml\n(.*?)```/gs)]
        .map(([, block = '']) => block)
        .filter((block) => block.includes('kind: DatabaseService'));
      for (const block of blocks)
        assert.deepEqual(
          validateText(block).flatMap(({ problems }) => problems),
          [],
        );
    });
  }

  test('the example of the page on life without a controller needs none', () => {
    const [judged] = validateText(readFileSync(join(project, 'examples/ledger.yaml'), 'utf8'));
    assert.ok(judged?.resource);
    assert.deepEqual(controllerOnly(judged.resource), []);
  });

  test('the project names no registry and no path of a machine', () => {
    const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
    assert.doesNotMatch(lock, /"resolved"/);
  });
});
