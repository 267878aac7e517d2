import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { locateBinaries } from './binaries.ts';
import { controlPlane } from './pins.ts';
import { discardFolder } from '../discard-folder.ts';

const { key, packages } = controlPlane;

test('without Go, one sentence says what to install', async (t) => {
  const { folder, onProgress } = setUp(t);
  await assert.rejects(locateBinaries(onProgress), {
    message:
      'The test control plane is built with Go, and there is no go on PATH: install Go 1.26 or newer (https://go.dev/dl), ' +
      'or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl.',
  });
  assert.deepEqual(readdirSync(folder), [], 'nothing was created');
});

test('a cache folder that cannot be made is told in one sentence', async (t) => {
  const { folder, onProgress } = setUp(t);
  writeGo(folder, 'echo go version go1.26.8 linux/amd64');
  writeFileSync(join(folder, 'cache'), 'a file where the folder has to be');
  await assert.rejects(locateBinaries(onProgress), {
    message:
      /^The cache folder .* cannot be written \(\w+\): make it writable, or name another one by PLUMBLINE_CACHE\.$/,
  });
});

test('with a Go that is too old, one sentence says so', async (t) => {
  const { folder, onProgress } = setUp(t);
  writeGo(folder, 'echo go version go1.19.8 linux/amd64');
  await assert.rejects(locateBinaries(onProgress), {
    message: /^The test control plane needs Go 1\.26, and the go on PATH is 1\.19: install Go 1\.26 or newer .*\.$/,
  });
});

test('what is missing is built, under a name that shows only when it is whole, and then reused', async (t) => {
  const { folder, lines, onProgress } = setUp(t);
  writeGo(
    folder,
    `case $1 in
    version) echo go version go1.26.8 linux/amd64 ;;
    build) while [ "$1" != -o ]; do shift; done; echo "$3" > "$2" ;;
  esac`,
  );
  const [one, two] = await Promise.all([locateBinaries(onProgress), locateBinaries(onProgress)]);
  assert.deepEqual(one, two);
  const cache = join(folder, 'cache', key);
  assert.deepEqual(readdirSync(cache).toSorted(), Object.keys(packages).toSorted());
  assert.equal(lines.filter((line) => line.startsWith('Building')).length, 1);
  assert.equal(lines.filter((line) => line.startsWith('Waiting')).length, 1);
  assert.equal(lines.filter((line) => line.endsWith(' s')).length, Object.keys(packages).length);

  // Neither Go nor a word is needed from now on.
  rmSync(join(folder, 'bin'), { recursive: true });
  lines.length = 0;
  assert.deepEqual(await locateBinaries(onProgress), one);
  assert.deepEqual(lines, []);
});

test('a build that was cut off goes on where it was', async (t) => {
  const { folder, lines, onProgress } = setUp(t);
  const cache = join(folder, 'cache', key);
  mkdirSync(cache, { recursive: true });
  for (const name of ['etcd', 'kubectl', 'kube-apiserver']) writeFileSync(join(cache, name), 'whole');
  writeFileSync(join(cache, 'kube-scheduler.1.partial'), 'half');
  writeGo(
    folder,
    `case $1 in
    version) echo go version go1.26.8 linux/amd64 ;;
    build) while [ "$1" != -o ]; do shift; done; echo "$3" > "$2" ;;
  esac`,
  );
  await locateBinaries(onProgress);
  assert.deepEqual(readdirSync(cache).toSorted(), Object.keys(packages).toSorted());
  assert.deepEqual(
    lines.slice(1).map((line) => line.replace(/: \d+ s$/, '').trim()),
    ['kube-controller-manager', 'kube-scheduler'],
  );
});

test('a build that fails is told with what Go said', async (t) => {
  const { folder, onProgress } = setUp(t);
  writeGo(
    folder,
    `case $1 in
    version) echo go version go1.26.8 linux/amd64 ;;
    build) echo 'go: exec: "git": executable file not found in $PATH' >&2; exit 1 ;;
  esac`,
  );
  await assert.rejects(locateBinaries(onProgress), {
    message: /^etcd could not be built: go ended with code 1\. Install git\. Its last lines:\ngo: exec: "git"/,
  });
});

test('KUBEBUILDER_ASSETS is used as it is, and what it lacks is named', async (t) => {
  const { folder, onProgress } = setUp(t);
  process.env['KUBEBUILDER_ASSETS'] = folder;
  writeFileSync(join(folder, 'etcd'), '');
  await assert.rejects(locateBinaries(onProgress), /but kube-apiserver, kubectl is not there/);
  for (const name of ['kube-apiserver', 'kubectl']) writeFileSync(join(folder, name), '');
  assert.deepEqual(await locateBinaries(onProgress), {
    etcd: join(folder, 'etcd'),
    'kube-apiserver': join(folder, 'kube-apiserver'),
    kubectl: join(folder, 'kubectl'),
  });
});

test('KUBEBUILDER_ASSETS may be relative to the folder in which the command runs', async (t) => {
  const { folder, onProgress } = setUp(t);
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) writeFileSync(join(folder, name), '');
  process.env['KUBEBUILDER_ASSETS'] = relative(process.cwd(), folder);
  assert.equal((await locateBinaries(onProgress)).etcd, join(folder, 'etcd'));
});

/** An empty PATH, an empty cache and no assets for one test. */
function setUp(t: TestContext): { folder: string; lines: string[]; onProgress: (line: string) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'binaries-'));
  const { KUBEBUILDER_ASSETS, PLUMBLINE_CACHE, PATH } = process.env;
  setEnvironment({ PLUMBLINE_CACHE: join(folder, 'cache'), PATH: join(folder, 'bin') });
  t.after(() => {
    setEnvironment({ KUBEBUILDER_ASSETS, PLUMBLINE_CACHE, PATH });
    discardFolder(folder);
  });
  const lines: string[] = [];
  return { folder, lines, onProgress: (line) => lines.push(line) };
}

function setEnvironment(values: Readonly<Record<string, string | undefined>>): void {
  for (const name of ['KUBEBUILDER_ASSETS', 'PLUMBLINE_CACHE', 'PATH']) {
    const value = values[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

function writeGo(folder: string, script: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', 'go'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // The shell's own tools, without a Go that may be on PATH too: ours comes first.
  process.env['PATH'] = [join(folder, 'bin'), '/usr/bin', '/bin'].join(delimiter);
}
