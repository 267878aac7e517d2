import type { V1ConfigMap } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { scripts } from '../../../constructs/postgresql/scripts.ts';
import { installed } from './installed.ts';
import { orders, rendered } from './orders.ts';
import { python, Sandbox } from './sandbox.ts';

const shellcheck = installed('shellcheck', 'shellcheck');
const shellcheckMissing = 'skip' in shellcheck ? shellcheck.skip : false;
const pythonMissing = 'skip' in python ? python.skip : false;

for (const [name, text] of Object.entries(scripts).filter(([name]) => name.endsWith('.sh'))) {
  test(`${name} passes shellcheck`, { skip: shellcheckMissing }, () => {
    const { status, stdout } = spawnSync('shellcheck', ['-'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });
}

test('the Python scripts compile without a warning', { skip: pythonMissing }, () => {
  using sandbox = new Sandbox();
  for (const name of Object.keys(scripts).filter((name) => name.endsWith('.py'))) {
    const check = `import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])`;
    const ran = sandbox.run('python3', ['-W', 'error', '-c', check, sandbox.path(`scripts/${name}`)]);
    assert.equal(ran.status, 0, ran.output);
  }
});

test('the scripts import nothing but the standard library and each other', () => {
  const allowed = new Set(
    [
      'base64',
      'collections',
      'fcntl',
      'hashlib',
      'hmac',
      'http',
      'json',
      'os',
      're',
      'shutil',
      'signal',
      'ssl',
      'stringprep',
    ].concat(
      ['subprocess', 'sys', 'socket', 'struct', 'tempfile', 'threading', 'time', 'unicodedata'],
      Object.keys(scripts).map((name) => name.replace(/\.py$/, '')),
    ),
  );
  for (const [name, text] of Object.entries(scripts).filter(([name]) => name.endsWith('.py'))) {
    for (const [, imported, from] of text.matchAll(/^(?:import (\w+)|from (\w+) import )/gm)) {
      const module = imported ?? from ?? '';
      assert.ok(allowed.has(module), `${name} imports ${module}`);
    }
  }
});

test('no password is ever an argument of a program or part of an SQL text', () => {
  const all = Object.values(scripts).join('\n');
  assert.doesNotMatch(all, /PGPASSWORD|--password=|password=\{/i);
});

test('the dynamic configuration has the bytes of Python’s json.dumps', { skip: pythonMissing }, () => {
  // GIVEN what Patroni reads at its first start
  const parameters = { search_path: 'größe, 😀, "a\\b"', log_line_prefix: '%m [%p] ', application_name: "it's" };
  const { metadata } = rendered<V1ConfigMap>(orders({ parameters }), 'ConfigMap', 'orders-patroni-config');
  const annotation = metadata.annotations?.['config'] ?? '';
  // WHEN it writes that back, as it does after the bootstrap
  using sandbox = new Sandbox();
  const program = `import json, sys; print(json.dumps(json.load(sys.stdin), separators=(',', ':')), end='')`;
  const { output } = sandbox.run('python3', ['-c', program], { input: annotation });
  // THEN nothing has changed, so the field stays ours
  assert.equal(output, annotation);
});

const percents: readonly [last: number | undefined, now: number, said: number][] = [
  [undefined, 0, 0],
  [undefined, 44.9, 40],
  [40, 46, 40],
  [40, 47.5, 45],
  [45, 44, 45],
  [45, 42.4, 40],
  [90, 100, 100],
];
test(
  'disk use is said in steps of 5 %, and a value that swings about a step is said once',
  { skip: pythonMissing },
  () => {
    using sandbox = new Sandbox();
    const program = `import json, sys; sys.path.insert(0, 'scripts'); from usage import step
print(json.dumps([step(last, now) for last, now in json.load(sys.stdin)]))`;
    const { output } = sandbox.run('python3', ['-c', program], {
      input: JSON.stringify(percents.map(([l, n]) => [l ?? null, n])),
    });
    assert.deepEqual(
      JSON.parse(output),
      percents.map(([, , said]) => said),
    );
  },
);
