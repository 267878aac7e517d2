import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { project, run, TemporaryFolder } from '../commands/command.ts';
import { readPage } from './shell.ts';

const page = readPage('operations.md');

test('the program of the page of operations writes an installation with its options, and one of monitoring', async () => {
  // GIVEN the two pieces of it as one program, which has the library from the sources
  const [install = '', monitoring = ''] = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code);
  const end = 'app.synth();\n';
  assert(install.endsWith(end));
  const program = `${install.slice(0, -end.length)}${monitoring}${end}`;
  using folder = new TemporaryFolder();
  symlinkSync(`${project}/node_modules`, folder.in('node_modules'));
  const library = pathToFileURL(`${project}/constructs/index.ts`).href;
  writeFileSync(folder.in('main.ts'), program.replaceAll("'plumbline';", `'${library}';`));

  // WHEN it runs
  const { code, stderr } = await run('node', [folder.in('main.ts')], { cwd: folder.path });
  assert.equal(code, 0, stderr);

  // THEN it is what the options say
  const written = (chart: string): string => readFileSync(folder.in('dist', `${chart}.k8s.yaml`), 'utf8');
  assert.match(written('plumbline-api'), /^kind: CustomResourceDefinition$/m);
  const installation = written('plumbline');
  assert.match(installation, /^ +image: registry\.example\/plumbline-controller:0\.1\.0$/m);
  for (const namespace of ['shop', 'finance'])
    assert.match(installation, new RegExp(`^kind: Role\\n[^]*?^  namespace: ${namespace}$`, 'm'));
  assert.match(written('plumbline-monitoring'), /release: prometheus/);
});

test('the page has each option of an installation and of its monitoring', () => {
  for (const file of ['options.ts', 'monitoring/options.ts']) {
    const source = readFileSync(`${project}/constructs/install/${file}`, 'utf8');
    const [, props = ''] = source.split(/^export interface \w+Props .*$/m);
    const names = [...props.matchAll(/^  readonly (\w+)\?:/gm)].map(([, name = '']) => name);
    assert(names.length > 2, file);
    for (const name of names) assert(page.includes(`\`${name}\``), name);
  }
});
