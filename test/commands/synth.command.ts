import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
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

function synth(...args: readonly string[]) {
  return run(process.execPath, ['constructs/synth.ts', ...args]);
}

/** A folder with spec files, and an output that is there already. */
function workspace(files: Readonly<Record<string, string>>): {
  folder: TemporaryFolder;
  args: readonly string[];
  output: string;
} {
  const folder = new TemporaryFolder();
  mkdirSync(folder.in('specs'));
  mkdirSync(folder.in('dist'));
  writeFileSync(folder.in('dist', 'before.yaml'), 'before: true\n');
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
    assert.ok(!existsSync(join(output, 'before.yaml')), 'the output is replaced as a whole');
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
    assert.deepEqual(filesBelow(output), { 'before.yaml': 'before: true\n' });
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

  test('what an ended run left is cleared away, and the output survives it', async () => {
    const { folder, args, output } = workspace({ 'orders.yaml': valid });
    using _ = folder;
    mkdirSync(`${output}.new-999999999`);
    mkdirSync(`${output}.old`);
    const { code } = await synth(...args);
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder.path).sort(), ['dist', 'specs']);
  });
});
