import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { locateBinaries } from '../cluster/binaries.ts';
import { commandLine as commandLineOf } from '../cluster/command-line.ts';
import { readGuard, readPids } from '../cluster/folder.ts';
import { startCluster, whyNoNode } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { project, run, TemporaryFolder } from './command.ts';
import { patienceMs } from '../patience.ts';

interface Summary {
  readonly objects: number;
  readonly applyMs: number;
  readonly drift: readonly {
    readonly object: string;
    readonly field: string;
    readonly was: string;
    readonly now: string;
    readonly manager: string;
    readonly repairMs: number;
  }[];
  readonly commit: string;
  readonly identical: boolean;
  readonly version?: string;
}

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'known', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'known', user: {} }],
  contexts: [{ name: 'known', context: { cluster: 'known', user: 'known' } }],
});
const quickstart = ['test/quickstart/main.ts'];
const reason = whyNoNode();
const noNode = reason === undefined ? false : `No node here: ${reason}.`;

describe('npm run quickstart', () => {
  test('takes the example through all three deliveries, and prints one JSON object', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--json']);
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout) as Summary;
    assert.equal(summary.identical, true);
    assert.equal(summary.objects, 18);
    assert.match(summary.commit, /^[0-9a-f]{40}$/);
    const [image, service] = summary.drift;
    assert.equal(image?.object, 'StatefulSet/orders');
    assert.equal(image?.field, 'spec.template.spec.containers[name=postgres].image');
    assert.equal(image?.manager, 'kubectl-edit');
    assert.notEqual(image?.was, image?.now);
    assert.equal(service?.object, 'Service/orders-ro');
    assert.equal(service?.manager, 'unknown');
    assert.ok(summary.drift.every(({ repairMs }) => repairMs >= 0));
    assert.doesNotMatch(stderr, /not ended cleanly/);
  });

  test('with --node it ends with what PostgreSQL says it is', { skip: noNode }, async () => {
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--node', '--json']);
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout) as Summary;
    assert.equal(summary.identical, true);
    assert.match(summary.version ?? '', /^PostgreSQL 17\.\d+ /);
    assert.match(stderr, /\$ psql -h orders -U orders -d orders -c 'select version\(\)'/);
    assert.doesNotMatch(stderr, /not ended cleanly/);
    assert.deepEqual(await quickstartControllersGone(), []);
  });

  test('with --node where no node can run it says why in one sentence', async () => {
    // A node needs more than these three; and whoever is not root, or not on Linux, hears of that.
    using assets = new TemporaryFolder();
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--node'], {
      env: { KUBEBUILDER_ASSETS: assets.path },
    });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr.trim(), /^--node cannot be had here: a node needs [^\n]+\.$/);
  });

  test('a run that is killed in the middle leaves no process, and the next one works and clears its folders away', async () => {
    using temporary = new TemporaryFolder();
    const env = { TMPDIR: temporary.path };
    const killed = new Running([], env);
    await killed.says(/objects exist/);
    killed.child.kill('SIGKILL');
    await killed.ended;
    assert.notDeepEqual(foldersOf(temporary), []);
    const { code, stderr } = await run(process.execPath, [...quickstart, '--json'], { env });
    assert.equal(code, 0, stderr);
    assert.deepEqual(await quickstartControllersGone(), [], 'no controller of the killed run is left');
    assert.deepEqual(foldersOf(temporary), []);
  });

  for (const [step, args] of [
    [3, []],
    [6, ['--keep']],
    [10, []],
  ] as const) {
    test(`Ctrl-C in step ${[step, ...args].join(' with ')} ends all of it soon`, async () => {
      // GIVEN
      using temporary = new TemporaryFolder();
      const running = new Running(args, { TMPDIR: temporary.path });
      await running.says(new RegExp(`^${step}\\. `, 'm'));

      // WHEN a terminal interrupts the quickstart and everything in its process group
      process.kill(-running.pid, 'SIGINT');

      // THEN
      const timer = setTimeout(() => running.child.kill('SIGKILL'), patienceMs);
      assert.equal(await running.ended, 130, running.stderr);
      clearTimeout(timer);
      assert.match(running.stderr, /^stopped by SIGINT$/m);
      assert.doesNotMatch(running.stdout, /not ended cleanly|Everything is left running/);
      assert.deepEqual(await quickstartControllersGone(), []);
      await eventually(`its folders are gone: ${foldersOf(temporary).join()}`, () =>
        foldersOf(temporary).every((name) => isAbandoned(temporary.in(name))),
      );
    });
  }

  test('works on a cluster that is named, and leaves nothing there', async () => {
    await using cluster = await startCluster();
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--json', '--context', 'plumbline'], {
      env: { KUBECONFIG: cluster.kubeconfig },
    });
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as Summary).identical, true);
    const left = await cluster.kubectlRun(['get', 'crds,namespaces', '--output=name']);
    assert.equal(left.code, 0, left.stderr);
    assert.doesNotMatch(left.stdout, /plumbline/);
  });

  test('takes the CRD of a killed run away again, and leaves one that somebody else has changed', async () => {
    // GIVEN what a run leaves that was killed while somebody changed what is not theirs
    await using cluster = await startCluster();
    const args = ['--context', 'plumbline'];
    const env = { KUBECONFIG: cluster.kubeconfig };
    const killed = new Running(args, env);
    await killed.says(/^6\. /m);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const label = (value: string) => cluster.kubectlRun(['label', 'crd/databaseservices.plumbline.dev', value]);
    const plumblines = async () => (await cluster.kubectlRun(['get', 'crds,namespaces', '-o', 'name'])).stdout;
    assert.match(await plumblines(), /plumbline-quickstart/);

    // WHEN somebody has put a label on the CRD
    assert.equal((await label('team=data')).code, 0);
    const first = await run(process.execPath, [...quickstart, ...args], { env });
    const left = await plumblines();

    // THEN it stays
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /CRD databaseservices\.plumbline\.dev is there already, and used as it is/);
    assert.match(left, /databaseservices\.plumbline\.dev/);
    assert.doesNotMatch(left, /plumbline-quickstart/);

    // WHEN it is the quickstart's alone again
    assert.equal((await label('team-')).code, 0);
    const second = await run(process.execPath, [...quickstart, ...args], { env });

    // THEN it goes
    assert.equal(second.code, 0, second.stderr);
    assert.doesNotMatch(await plumblines(), /plumbline/);
  });

  test('works with the three executables of envtest', async () => {
    using assets = new TemporaryFolder();
    const binaries = await locateBinaries();
    for (const name of ['etcd', 'kube-apiserver', 'kubectl'] as const) symlinkSync(binaries[name], assets.in(name));
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--json'], {
      env: { KUBEBUILDER_ASSETS: assets.path },
    });
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as Summary).identical, true);
  });

  test('with --keep everything goes on, and can be looked at and ended as it says', async () => {
    using temporary = new TemporaryFolder();
    const kept = await run(process.execPath, [...quickstart, '--keep'], { env: { TMPDIR: temporary.path } });
    assert.equal(kept.code, 0, kept.stderr);
    const [look = ''] = commandsAfter('To look at it', kept.stdout);
    const seen = await run('sh', ['-c', `${look} -n shop get dbs orders`]);
    const stopped = await runAll(commandsAfter('To end it', kept.stdout));
    assert.equal(seen.code, 0, seen.stderr);
    assert.match(seen.stdout, /^orders +Provisioning +0\/3 +postgresql +17/m);
    assert.deepEqual(stopped, []);
    assert.deepEqual(await quickstartControllersGone(), []);
    assert.deepEqual(foldersOf(temporary), []);
  });

  test('with --keep a step that fails leaves everything as it is, and says how to end it', async () => {
    // GIVEN a git that cannot show the commit of step 7
    using temporary = new TemporaryFolder();
    mkdirSync(temporary.in('bin'));
    const { stdout: git } = await run('sh', ['-c', 'command -v git']);
    const script = `#!/bin/sh\ncase "$*" in *%h*) echo 'no log here' >&2; exit 1;; esac\nexec ${git.trim()} "$@"\n`;
    writeFileSync(temporary.in('bin', 'git'), script, { mode: 0o755 });
    const env = { TMPDIR: temporary.path, PATH: `${temporary.in('bin')}:${process.env['PATH'] ?? ''}` };

    // WHEN
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--keep'], { env });
    const [look = ''] = commandsAfter('To look at it', stdout);
    const seen = await run('sh', ['-c', `${look} -n shop get dbs orders`]);
    const stopped = await runAll(commandsAfter('To end it', stdout));

    // THEN
    assert.equal(code, 1);
    assert.match(stderr, /no log here/);
    assert.equal(seen.code, 0, seen.stderr);
    assert.deepEqual(stopped, []);
    assert.deepEqual(await quickstartControllersGone(), []);
    assert.deepEqual(foldersOf(temporary), []);
  });

  test('with --keep on a cluster that is named it says how to take everything away there', async () => {
    await using cluster = await startCluster();
    using temporary = new TemporaryFolder();
    const env = {
      KUBECONFIG: cluster.kubeconfig,
      TMPDIR: temporary.path,
      PATH: `${dirname(cluster.kubectl)}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    };
    const kept = await run(process.execPath, [...quickstart, '--keep', '--context', 'plumbline'], { env });
    assert.equal(kept.code, 0, kept.stderr);
    assert.deepEqual(await runAll(commandsAfter('To end it', kept.stdout), env), []);
    const left = await cluster.kubectlRun(['get', 'crds,namespaces', '--output=name']);
    assert.doesNotMatch(left.stdout, /plumbline/);
    assert.deepEqual(await quickstartControllersGone(), []);
    assert.deepEqual(foldersOf(temporary), []);
  });

  test('without git it says in one sentence what to install, before it starts anything', async () => {
    using empty = new TemporaryFolder();
    const { code, stdout, stderr } = await run(process.execPath, quickstart, { env: { PATH: empty.path } });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr.trim(), /^The quickstart .*there is no git on PATH: install git [^\n]*\.$/);
  });

  test('without Go it names a cluster of the user as one more way', async () => {
    using folder = new TemporaryFolder();
    const { stdout: git } = await run('sh', ['-c', 'command -v git']);
    mkdirSync(folder.in('bin'));
    symlinkSync(git.trim(), folder.in('bin', 'git'));
    const PATH = `${folder.in('bin')}:${dirname(process.execPath)}`;
    const env = { PATH, PLUMBLINE_CACHE: folder.in('cache'), KUBEBUILDER_ASSETS: '' };
    const { code, stderr } = await run(process.execPath, quickstart, { env });
    assert.equal(code, 1);
    assert.match(stderr.trim(), /^The test control plane is built with Go, [^\n]*, or name [^\n]*: --context NAME\.$/);
  });

  for (const [name, args, says] of [
    ['an unknown flag', ['--no-such-flag'], /unknown option '--no-such-flag'/],
    [
      'a node on a cluster that is named',
      ['--node', '--context', 'known'],
      /'--node' cannot be used with option '--context/,
    ],
    ['a context without a name', ['--context', ''], /'--context <name>' argument '' is invalid. It names no context/],
    ['an unknown context', ['--context', 'no-such-context'], /no-such-context.*known/s],
  ] as const) {
    test(`${name} is said in words`, async () => {
      using folder = new TemporaryFolder();
      writeFileSync(folder.in('config'), kubeconfig);
      const { code, stderr } = await run(process.execPath, [...quickstart, ...args], {
        env: { KUBECONFIG: folder.in('config') },
      });
      assert.notEqual(code, 0);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /^\s+at .*\.ts:/m, 'no stack trace');
    });
  }
});

/** The quickstart as a terminal starts it, as the head of a process group. */
class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const { NODE_TEST_CONTEXT: _, ...ours } = process.env;
    this.child = spawn(process.execPath, [...quickstart, ...args], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...ours, ...env },
      detached: true,
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async says(pattern: RegExp): Promise<void> {
    await eventually(
      `it says ${pattern.source}`,
      () => {
        if (this.child.exitCode !== null) throw new Error(`it has ended: ${this.stderr}${this.stdout}`);
        return pattern.test(this.stdout) || undefined;
      },
      600_000,
    );
  }
}

/** The indented lines that follow one. */
function commandsAfter(heading: string, stdout: string): readonly string[] {
  const [, lines = ''] = new RegExp(`${heading}:\n((?:  .*\n)*)`).exec(stdout) ?? [];
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [line.trim()]));
}

/** @returns what the commands that failed have said; without any command, that */
async function runAll(commands: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
  if (commands.length === 0) return ['there is no command'];
  const failures: string[] = [];
  for (const command of commands) {
    const { code, stderr } = await run('sh', ['-c', command], { env });
    if (code !== 0) failures.push(`${command}: ${stderr}`);
  }
  return failures;
}

/** What the quickstart has left in its temporary folder. */
function foldersOf(temporary: TemporaryFolder): readonly string[] {
  return readdirSync(temporary.path).filter((name) => name.startsWith('plumbline-'));
}

/** A guard that the signal reached before it had a session of its own has started nothing; its folder goes with the next start. */
function isAbandoned(folder: string): boolean {
  const guard = readGuard(folder);
  return guard !== undefined && readPids(folder).length === 0 && commandLineOf(guard.pid)?.includes(folder) !== true;
}

/** Those that stay. */
async function quickstartControllersGone(): Promise<readonly string[]> {
  for (const end = Date.now() + patienceMs; quickstartControllers().length > 0 && Date.now() < end;) await delay(100);
  return quickstartControllers();
}

/** Processes of the quickstart's controller, by their command line. */
function quickstartControllers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((line) => line.includes('controller/main.ts') && line.includes('plumbline-quickstart-'));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
