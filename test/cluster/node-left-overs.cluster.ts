import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { startCluster, whyNoNode } from './index.ts';
import { commandLine } from './command-line.ts';
import { assertNothingLeft, killGuard, pidsOf, useOwnTemporaryFolder } from './left-overs.ts';
import { cgroupName } from './node/cgroups.ts';
import { linkName } from './node/sweep.ts';
import { patience, patienceMs } from '../patience.ts';

const reason = whyNoNode();
const skip = reason === undefined ? false : `No node here: ${reason}.`;

test('stopping a cluster whose node runs pods leaves nothing of it', { skip }, async () => {
  const before = machineSettings();
  const { child, folder, pids, node } = await startElsewhere();
  assert.deepEqual(machineSettings(), before, 'also while it runs');
  assert.notDeepEqual(leftOf(folder, node), nothing);
  child.stdin.end('stop\n');
  await once(child, 'exit');
  await assertNodeGone(folder, node);
  await assertNothingLeft(folder, pids);
  assert.deepEqual(machineSettings(), before);
});

test('a process that is killed leaves nothing of its node', { skip }, async () => {
  const { child, folder, pids, node } = await startElsewhere();
  child.kill('SIGKILL');
  await once(child, 'exit');
  await assertNothingLeft(folder, pids);
  await assertNodeGone(folder, node);
});

test('the next start removes what a killed guard left of a node', { skip }, async (t) => {
  useOwnTemporaryFolder(t);
  const { child, folder, pids, node } = await startElsewhere();
  await killGuard(t, folder, pids);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.notDeepEqual(leftOf(folder, node), nothing);
  await using _next = await startCluster({ controllerManager: false, scheduler: false });
  await assertNothingLeft(folder, pids);
  await assertNodeGone(folder, node);
});

test('the script of a kept cluster stops its node, even if its guard was killed', { skip }, async (t) => {
  useOwnTemporaryFolder(t);
  for (const isGuardKilled of [false, true]) {
    const { child, folder, pids, node } = await startElsewhere('{ keep: true }');
    child.stdin.end();
    await once(child, 'exit');
    assert.notDeepEqual(leftOf(folder, node), nothing);
    if (isGuardKilled) await killGuard(t, folder, pids);
    execFileSync(`${folder}/stop.sh`);
    await assertNodeGone(folder, node);
    await assertNothingLeft(folder, pids);
  }
});

/** Starts a cluster in a process of its own, with a pod that has a volume and does not heed SIGTERM. */
async function startElsewhere(options = '{}') {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const script = `
    import { createInterface } from 'node:readline';
    import { postgresqlImage, startCluster } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
    const image = await postgresqlImage();
    const cluster = await startCluster({ node: true, images: [image], ...${options} });
    const manifest = ${JSON.stringify(JSON.stringify(workload('IMAGE')))}.replace('IMAGE', image.reference);
    await cluster.kubectlRun(['create', '-f', '-'], manifest);
    const { code, stderr } = await cluster.kubectlRun(['wait', '--for=condition=Ready', 'pod/stubborn', '${patience}']);
    if (code !== 0) throw new Error(stderr);
    console.log(cluster.folder);
    for await (const line of createInterface(process.stdin)) if (line === 'stop') await cluster.stop();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environment,
  });
  for await (const folder of createInterface(child.stdout)) {
    const init = readFileSync(`${folder}/node/pid`, 'utf8').trim();
    const node = processesWith(kinds.map((kind) => readlinkSync(`/proc/${init}/ns/${kind}`)));
    child.stdout.resume();
    return { child, folder, pids: pidsOf(folder), node };
  }
  throw new Error(`The process ended before it had a cluster, with code ${child.exitCode}.`);
}

function workload(image: string): object {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '32Mi' } } },
  };
  const container = {
    name: 'main',
    image,
    command: ['bash', '-c', 'trap "" TERM; while :; do sleep 1; done'],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'stubborn' },
    spec: { containers: [container], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
  };
  return { apiVersion: 'v1', kind: 'List', items: [claim, pod] };
}

/** Fails if something of the node stays: a process that was killed is not gone at once. */
async function assertNodeGone(folder: string, node: NodeProcesses): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline && !isDeepStrictEqual(leftOf(folder, node), nothing)) await delay(50);
  assert.deepEqual(leftOf(folder, node), nothing);
}

const kinds = ['pid', 'net', 'mnt'];
const nothing = { processes: 0, mounts: 0, cgroups: 0, loopDevices: 0, hasLink: false };

/** The processes of a node, while it runs. */
interface NodeProcesses {
  /** Each node has its own; the number of one that is gone is given to the next that somebody makes. */
  readonly namespaces: readonly string[];
  readonly pids: readonly string[];
}

function processesWith(namespaces: readonly string[]): NodeProcesses {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isIn(name, namespaces));
  return { namespaces, pids };
}

function isIn(pid: string, namespaces: readonly string[]): boolean {
  try {
    return kinds.some((kind) => namespaces.includes(readlinkSync(`/proc/${pid}/ns/${kind}`)));
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** What a node that had these processes has left on this machine. */
function leftOf(folder: string, { namespaces, pids }: NodeProcesses): typeof nothing {
  const groups = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', cgroupName(folder)], {
    encoding: 'utf8',
  });
  const loops = execFileSync('losetup', ['--list', '--noheadings', '--output=BACK-FILE'], { encoding: 'utf8' });
  return {
    // One that only waits to be reaped has no command line.
    processes: pids.filter((pid) => commandLine(Number(pid)) !== undefined && isIn(pid, namespaces)).length,
    mounts: linesWith(readFileSync('/proc/self/mounts', 'utf8'), folder),
    cgroups: linesWith(groups, '/'),
    loopDevices: linesWith(loops, folder),
    hasLink: existsSync(`/sys/class/net/${linkName(folder)}`),
  };
}

function linesWith(text: string, part: string): number {
  return text.split('\n').filter((line) => line.includes(part)).length;
}

/** What a node would change of this machine if it were not kept apart. */
function machineSettings(): unknown {
  const settings = [
    'net/ipv4/ip_forward',
    'vm/overcommit_memory',
    'vm/panic_on_oom',
    'kernel/panic',
    'kernel/panic_on_oops',
  ];
  return {
    settings: settings.map((name) => `${name}=${readFileSync(`/proc/sys/${name}`, 'utf8').trim()}`),
    packetFilter: spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' }).stdout,
    folders: ['/var/lib/kubelet', '/var/lib/cni', '/var/log/containers', '/run/containerd', '/opt/containerd'].filter(
      existsSync,
    ),
  };
}
