import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../controller/running-plumbline.ts';
import { project, run, TemporaryFolder } from './command.ts';
import { filesBelow } from './files-below.ts';

const valid = `apiVersion: plumbline.dev/v1alpha1
kind: DatabaseService
metadata: {name: orders, namespace: shop}
spec:
  engine: postgresql
  version: "17"
  storage: {size: 10Gi}
`;

const before = 'crds/service.before.yaml';

function synth(...args: readonly string[]) {
  return run(process.execPath, ['constructs/synth.ts', ...args]);
}

/** A folder with spec files, and an output of an earlier run. */
function workspace(files: Readonly<Record<string, string>>): {
  folder: TemporaryFolder;
  args: readonly string[];
  output: string;
} {
  const folder = new TemporaryFolder();
  mkdirSync(folder.in('specs'));
  mkdirSync(folder.in('dist', 'crds'), { recursive: true });
  writeFileSync(folder.in('dist', before), 'before: true\n');
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.in('specs', name), text);
  const output = folder.in('dist');
  return { folder, args: ['--specs', folder.in('specs'), '--output', output], output };
}

describe('npm run synth', () => {
  test('dist/ is what synth writes from examples/ now; renew it with npm run synth', async () => {
    using folder = new TemporaryFolder();
    const { code, stderr } = await synth('--output', folder.in('dist'));
    assert.equal(code, 0, stderr);
    assert.deepEqual(filesBelow(folder.in('dist')), filesBelow(join(project, 'dist')));
  });

  test('every object is in a file of its own, in the folder of its database', async () => {
    const { folder, args, output } = workspace({ 'orders.yaml': valid });
    using _ = folder;
    const { code, stdout } = await synth(...args);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+ manifests in /);
    assert.ok(existsSync(join(output, 'databases/shop/orders/statefulset.orders.yaml')));
    assert.ok(!existsSync(join(output, before)), 'the output is replaced as a whole');
    assert.deepEqual(readdirSync(folder.path).sort(), ['dist', 'specs'], 'nothing else is left');
  });

  test('a bad spec: all errors of all files with file and line, exit code 1, and the output as it was', async () => {
    const { folder, args, output } = workspace({
      'a.yaml': valid.replace('"17"', '17').replace('10Gi', '10GB'),
      'b.yaml': valid.replace('orders', '2024.orders'),
      'c.yaml': valid,
    });
    using _ = folder;
    const { code, stderr, stdout } = await synth(...args);
    assert.equal(code, 1);
    const lines = stderr.trim().split('\n');
    assert.equal(lines.length, 3, stderr);
    assert.match(stderr, /a\.yaml:6: spec\.version: 17 must be text; write it in quotes: "17"/);
    assert.match(stderr, /a\.yaml:7: spec\.storage\.size: "10GB" /);
    assert.match(stderr, /b\.yaml:3: metadata\.name: "2024\.orders" must begin with a letter/);
    assert.equal(stdout, '');
    assert.deepEqual(filesBelow(output), { [before]: 'before: true\n' });
    assert.deepEqual(readdirSync(folder.path).sort(), ['dist', 'specs']);
  });

  test('two files that name the same database, and a file without a namespace, are errors', async () => {
    const { folder, args } = workspace({
      'a.yaml': valid,
      'b.yaml': valid,
      'c.yaml': valid.replace(', namespace: shop', ''),
    });
    using _ = folder;
    const { code, stderr } = await synth(...args);
    assert.equal(code, 1);
    assert.match(stderr, /b\.yaml:3: metadata\.name: shop\/orders stands at .*a\.yaml:3 already/);
    assert.match(stderr, /c\.yaml:3: metadata\.namespace: is required here/);
  });

  test('what only the controller can do is a note, and with --standalone an error', async () => {
    const { folder, args, output } = workspace({ 'orders.yaml': valid });
    using _ = folder;
    const note = await synth(...args);
    assert.equal(note.code, 0);
    assert.match(note.stderr, /^note: shop\/orders: credentials\.source Generated: .*Secret <name>-system too$/m);
    assert.match(note.stderr, /^note: shop\/orders: upgrade\.rollout Managed: /m);
    const written = filesBelow(output);
    const refused = await synth(...args, '--standalone');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^shop\/orders: credentials\.source Generated/m);
    assert.deepEqual(filesBelow(output), written);
  });

  test('the example for teams without a controller stands alone', async () => {
    const { folder, args } = workspace({ 'ledger.yaml': readFileSync(join(project, 'examples/ledger.yaml'), 'utf8') });
    using _ = folder;
    const { code, stderr } = await synth(...args, '--standalone');
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
  });

  for (const [name, args, says] of [
    ['an unknown flag', ['--no-such-flag'], /--no-such-flag/],
    ['an argument', ['examples'], /examples/],
  ] as const) {
    test(`${name} is wrong usage: exit code 2 and the usage`, async () => {
      const { code, stderr } = await synth(...args);
      assert.equal(code, 2);
      assert.match(stderr, says);
      assert.match(stderr, /--specs FOLDER/);
    });
  }

  test('a folder that is missing or empty is one line', async () => {
    const { folder, output } = workspace({});
    using _ = folder;
    for (const [specs, says] of [
      [folder.in('nowhere'), /nowhere: cannot be read/],
      [folder.in('specs'), /specs: holds no \*\.yaml file/],
    ] as const) {
      const { code, stderr } = await synth('--specs', specs, '--output', output);
      assert.equal(code, 1);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
      assert.match(stderr, says);
    }
  });

  // https://github.com/apache/openwhisk-deploy-kube/issues/432
  test('a checkout with Windows line endings renders the same bytes, without a carriage return', async () => {
    using folder = new TemporaryFolder();
    folder.copy('constructs', 'examples', 'package.json', 'cdk8s.yaml', 'tsconfig.json');
    symlinkSync(join(project, 'node_modules'), folder.in('node_modules'));
    for (const part of ['constructs', 'examples']) {
      for (const [name, text] of Object.entries(filesBelow(folder.in(part)))) {
        writeFileSync(folder.in(part, name), text.replaceAll('\n', '\r\n'));
      }
    }
    const { code, stderr } = await run(process.execPath, ['constructs/synth.ts'], { cwd: folder.path });
    assert.equal(code, 0, stderr);
    const written = filesBelow(folder.in('dist'));
    assert.deepEqual(written, filesBelow(join(project, 'dist')));
    for (const [name, text] of Object.entries(written)) assert.ok(!text.includes('\r'), name);
  });

  // https://github.com/kubernetes-sigs/cluster-api-provider-azure/issues/2417
  test('a spec file with Windows line endings may have a block scalar', async () => {
    const text = `${valid}  parameters:\n    log_line_prefix: |-\n      %m [%p]\n`.replaceAll('\n', '\r\n');
    const { folder, args, output } = workspace({ 'orders.yaml': text });
    using _ = folder;
    const { code, stderr } = await synth(...args);
    assert.equal(code, 0, stderr);
    const config = filesBelow(output)['databases/shop/orders/configmap.orders-patroni-config.yaml'] ?? '';
    assert.match(config, /"log_line_prefix":"%m \[%p\]"/);
  });

  test('what a killed run left is cleared away, and its own output is replaced', async () => {
    // GIVEN
    const { folder, args, output } = workspace({ 'orders.yaml': valid });
    using _ = folder;
    mkdirSync(folder.in('.dist.new-999999999-0123456789ab', 'databases', 'shop'), { recursive: true });

    // WHEN
    const ended = [await synth(...args), await synth(...args)];

    // THEN
    assert.deepEqual(
      ended.map(({ code, stderr }) => [code, stderr.replace(/^note: .*\n/gm, '')]),
      [
        [0, ''],
        [0, ''],
      ],
    );
    assert.deepEqual(readdirSync(folder.path).sort(), ['dist', 'specs']);
    assert.ok(!existsSync(join(output, before)));
  });

  test('an output below folders that do not exist is written, and after a bad spec none of them exists', async () => {
    const { folder } = workspace({ 'orders.yaml': valid });
    using _ = folder;
    mkdirSync(folder.in('bad'));
    writeFileSync(folder.in('bad', 'orders.yaml'), 'kind: Nothing\n');
    const output = ['--output', folder.in('a', 'b', 'dist')];
    assert.equal((await synth('--specs', folder.in('bad'), ...output)).code, 1);
    assert.deepEqual(readdirSync(folder.path).sort(), ['bad', 'dist', 'specs']);
    assert.equal((await synth('--specs', folder.in('specs'), ...output)).code, 0);
    assert.ok(existsSync(folder.in('a', 'b', 'dist', 'databases/shop/orders/statefulset.orders.yaml')));
    assert.deepEqual(readdirSync(folder.in('a', 'b')), ['dist']);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`${signal} leaves the output as it was, and nothing beside it`, async () => {
      const { folder, args, output } = workspace({ 'orders.yaml': valid });
      using _ = folder;
      const child = spawn(process.execPath, ['constructs/synth.ts', ...args], { cwd: project, stdio: 'ignore' });
      await eventually('it runs cdk8s', () => childrenOf(child.pid).length > 0);
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      assert.equal(code, 128 + constants.signals[signal]);
      assert.deepEqual(filesBelow(output), { [before]: 'before: true\n' });
      assert.deepEqual(readdirSync(folder.path).sort(), ['dist', 'specs']);
    });
  }

  test('-h is help', async () => {
    const { code, stdout, stderr } = await synth('-h');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /--output FOLDER/);
  });
});

describe('npm run synth replaces nothing of somebody', () => {
  /** What is asked for as the output, in a clone with specs of its own, and the reason why it is refused. */
  const refused: readonly (readonly [name: string, output: string, says: RegExp, specs?: string])[] = [
    ['the folder of the project', '.', /would be lost/],
    ['nothing', '', /names no folder/],
    ['a folder that the project is in', '..', /would be lost/],
    ['the file system', '/', /would be lost/],
    ['the home of the user, in which the project is', '$HOME', /would be lost/],
    ['the folder of the specs', 'specs', /would be lost/],
    ['a folder that the specs are in', 'all', /would be lost/, 'all/specs'],
    ['a file', 'README.md', /it is a file/],
    ['a folder below a file', 'README.md/dist', /README\.md is not a folder/],
    ['a folder with a file of a stranger', 'strange', /it holds notes\.txt, which/],
    ['a folder with a stranger below ours', 'mixed', /it holds databases\/shop\/kustomization\.yaml, which/],
    ['a folder with a link', 'linked', /it holds crds, which/],
    ['a symbolic link to a folder', 'link', /it is a symbolic link/],
    ['a symbolic link above the project', 'parent', /it is a symbolic link/],
    ['the project, by a symbolic link', 'parent/clone', /would be lost/],
    ['a folder below a link that leads nowhere', 'dangling/dist', /it cannot be reached \(ENOENT\)/],
    ['the git folder', '.git', /it holds HEAD, which/],
    ['a file system that takes no files', '/proc/x', /nothing can be written into \/proc \(/],
  ];

  for (const [name, output, says, specs = 'specs'] of refused) {
    test(`${name}: exit code 2, one sentence, and everything is as it was`, async () => {
      // GIVEN
      using folder = new TemporaryFolder();
      const clone = cloneIn(folder);
      const before = filesBelow(clone);

      // WHEN
      const args = ['constructs/synth.ts', '--specs', specs, '--output', output.replace('$HOME', folder.path)];
      const { code, stdout, stderr } = await run(process.execPath, args, { cwd: clone });

      // THEN
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^--output [^\n]*\.\n$/);
      assert.match(stderr, says);
      assert.deepEqual(filesBelow(clone), before);
    });
  }

  test('the folder of the project, from another one', async () => {
    using folder = new TemporaryFolder();
    const clone = cloneIn(folder);
    const args = [join(clone, 'constructs/synth.ts'), '--specs', join(clone, 'specs'), '--output', clone];
    const { code, stderr } = await run(process.execPath, args, { cwd: join(clone, 'strange') });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /clone would be lost with it/);
  });

  for (const [name, text, code] of [
    ['succeeds', valid, 0],
    ['fails', 'kind: Nothing\n', 1],
  ] as const) {
    test(`a folder X.old beside the output X is left alone by a run that ${name}`, async () => {
      using folder = new TemporaryFolder();
      mkdirSync(folder.in('specs'));
      mkdirSync(folder.in('dist.old'));
      mkdirSync(folder.in('.dist.old-999999999-0123456789ab'));
      writeFileSync(folder.in('dist.old', 'mine'), 'mine\n');
      writeFileSync(folder.in('specs', 'orders.yaml'), text);
      const args = ['--specs', folder.in('specs'), '--output', folder.in('dist')];
      // The second run finds the output of the first.
      for (let runs = 0; runs < 2; runs++) {
        const ended = await synth(...args);
        assert.equal(ended.code, code, ended.stderr);
        assert.deepEqual(filesBelow(folder.in('dist.old')), { mine: 'mine\n' });
        const there = ['.dist.old-999999999-0123456789ab', ...(code === 0 ? ['dist'] : []), 'dist.old', 'specs'];
        assert.deepEqual(readdirSync(folder.path).sort(), there);
      }
    });
  }
});

/** What synth needs of the project, as the folder `clone`, with files of a person's in it. */
function cloneIn(folder: TemporaryFolder): string {
  const clone = folder.in('clone');
  mkdirSync(clone);
  // A link would lead it to the project of these tests.
  for (const name of ['constructs', 'package.json', 'cdk8s.yaml'])
    cpSync(join(project, name), join(clone, name), { recursive: true });
  const files = {
    'README.md': '# mine\n',
    'specs/orders.yaml': valid,
    'all/specs/orders.yaml': valid,
    'strange/notes.txt': 'mine\n',
    'mixed/crds/service.before.yaml': 'before: true\n',
    'mixed/databases/shop/kustomization.yaml': 'resources: []\n',
    'linked/.keep': '',
    '.git/HEAD': 'ref: refs/heads/main\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    writeFileSync(join(clone, name), text);
  }
  rmSync(join(clone, 'linked/.keep'));
  symlinkSync(join(clone, 'strange'), join(clone, 'linked/crds'));
  symlinkSync(join(clone, 'strange'), join(clone, 'link'));
  symlinkSync(join(clone, '..'), join(clone, 'parent'));
  symlinkSync(join(clone, 'nowhere'), join(clone, 'dangling'));
  return clone;
}

function childrenOf(pid: number | undefined): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}
