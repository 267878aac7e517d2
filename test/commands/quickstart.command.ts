import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { locateBinaries } from '../cluster/binaries.ts';
import { startCluster, whyNoNode } from '../cluster/index.ts';
import { project, run, TemporaryFolder } from './command.ts';

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

  test('a run that is killed in the middle leaves no process, and the next one works', async () => {
    const child = spawn(process.execPath, quickstart, {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: withoutTestContext(),
    });
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('objects exist')) break;
    child.kill('SIGKILL');
    await once(child, 'close');
    const { code, stderr } = await run(process.execPath, [...quickstart, '--json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await quickstartControllersGone(), [], 'no controller of the killed run is left');
  });

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

  test('with --keep everything goes on, and can be looked at and stopped as it says', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [...quickstart, '--keep']);
    assert.equal(code, 0, stderr);
    const kubectl = /^ *(\/.*kubectl) --kubeconfig (\S+)$/m.exec(stdout);
    const [, program = '', kubeconfig = ''] = kubectl ?? [];
    const [, controller = ''] = /kill (\d+)/.exec(stdout) ?? [];
    const [, stopScript = ''] = /sh (\S+)$/m.exec(stdout) ?? [];
    const seen = await run(program, ['--kubeconfig', kubeconfig, '-n', 'shop', 'get', 'dbs', 'orders']);
    process.kill(Number(controller), 'SIGTERM');
    const stopped = await run('sh', [stopScript]);
    assert.equal(seen.code, 0, seen.stderr);
    assert.match(seen.stdout, /^orders +Provisioning +0\/3 +postgresql +17/m);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.deepEqual(await quickstartControllersGone(), []);
  });

  for (const [name, args, says] of [
    ['an unknown flag', ['--no-such-flag'], /unknown option '--no-such-flag'/],
    [
      'a node on a cluster that is named',
      ['--node', '--context', 'known'],
      /'--node' cannot be used with option '--context/,
    ],
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

function withoutTestContext(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return env;
}

/** Those that are still there after ten seconds. */
async function quickstartControllersGone(): Promise<readonly string[]> {
  for (let tries = 0; quickstartControllers().length > 0 && tries < 100; tries++) await delay(100);
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
