import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  newNamespace,
  postgresqlImage,
  sharedNodeCluster,
  startCluster,
  whyNoNode,
  type Image,
  type NodeCluster,
} from './index.ts';
import { tar, writeArchive } from './node/archive.ts';
import { locateNodeBinaries } from './node/parts.ts';
import { patience, patienceMs } from '../patience.ts';
import { discardFolder } from '../discard-folder.ts';

const reason = whyNoNode();
const skip = reason === undefined ? false : `No node here: ${reason}.`;
const { reference: image } = skip ? { reference: '' } : await postgresqlImage();

test('the node is ready', { skip }, async () => {
  const cluster = await sharedNodeCluster();
  const status = await succeed(cluster, ['get', 'node', cluster.nodeName, '-o', 'jsonpath={.status}']);
  const { conditions, addresses } = JSON.parse(status) as NodeStatus;
  assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.equal(addresses.find(({ type }) => type === 'InternalIP')?.address, cluster.nodeAddress);
});

test(
  'a pod finds a Service by its name and by its address, and kubectl reads its log and runs commands in it',
  { skip },
  async (t) => {
    const { cluster, namespace } = await setUp(t);
    const server = { name: 'web', labels: { app: 'web' } };
    await apply(cluster, namespace, pod(server, ['python3', '-u', '-m', 'http.server', '8080']));
    await apply(cluster, namespace, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: server.labels, ports: [{ port: 80, targetPort: 8080 }] },
    });
    await apply(cluster, namespace, pod({ name: 'client' }, ['sleep', 'infinity']));
    await succeed(cluster, ['-n', namespace, 'wait', '--for=condition=Ready', 'pod/web', 'pod/client', patience]);

    const address = await succeed(cluster, ['-n', namespace, 'get', 'svc', 'web', '-o', 'jsonpath={.spec.clusterIP}']);
    const inClient = (...command: string[]) =>
      cluster.kubectlRun(['-n', namespace, 'exec', 'client', '--', ...command]);
    assert.match(
      (await inClient('getent', 'ahostsv4', `web.${namespace}.svc.cluster.local`)).stdout,
      new RegExp(`^${address} `),
    );
    const fetch = (host: string) =>
      inClient('python3', '-c', `import urllib.request as r; print(r.urlopen("http://${host}", timeout=5).status)`);
    // The server listens a moment after its start, and kube-proxy learns of it within a second.
    await eventually(
      () => fetch('web'),
      ({ code }) => code === 0,
    );
    for (const host of [`web.${namespace}`, address]) {
      assert.deepEqual(await fetch(host), { stdout: '200\n', stderr: '', code: 0 }, host);
    }
    assert.notEqual((await inClient('getent', 'hosts', 'debian.org')).code, 0, 'nothing outside has a name');
    assert.match(await succeed(cluster, ['-n', namespace, 'logs', 'web']), /"GET \/ HTTP\/1.1" 200/);
  },
);

test('a NetworkPolicy is enforced, between pods too', { skip }, async (t) => {
  const { cluster, namespace } = await setUp(t);
  const script = 'python3 -m http.server 8080 & exec python3 -m http.server 8081';
  await apply(cluster, namespace, pod({ name: 'web', labels: { app: 'web' } }, ['bash', '-c', script]));
  for (const name of ['friend', 'stranger']) {
    await apply(cluster, namespace, pod({ name, labels: { app: name } }, ['sleep', 'infinity']));
  }
  await apply(cluster, namespace, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'web' },
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 8080 }] }],
    },
  });
  const pods = ['pod/web', 'pod/friend', 'pod/stranger'];
  await succeed(cluster, ['-n', namespace, 'wait', '--for=condition=Ready', ...pods, patience]);
  const address = await succeed(cluster, ['-n', namespace, 'get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}']);
  const reaches = async (from: string, port: number): Promise<boolean> => {
    const connect = `import socket; socket.create_connection(("${address}", ${port}), 2)`;
    const { code } = await cluster.kubectlRun(['-n', namespace, 'exec', from, '--', 'python3', '-c', connect]);
    return code === 0;
  };
  await eventually(
    async () => [await reaches('friend', 8080), await reaches('stranger', 8080)],
    ([friend, stranger]) => friend === true && stranger === false,
  );
  assert.equal(await reaches('friend', 8081), false);
  await succeed(cluster, ['-n', namespace, 'delete', 'networkpolicy', 'web']);
  await eventually(() => reaches('stranger', 8081), Boolean);
});

test('the processes of a container can be frozen and thawed', { skip }, async (t) => {
  const { cluster, namespace } = await setUp(t);
  const name = { namespace, pod: 'ticking', container: 'main' };
  await apply(cluster, namespace, pod({ name: name.pod }, ['bash', '-c', 'while :; do date +%s%N; sleep 0.1; done']));
  await succeed(cluster, ['-n', namespace, 'wait', '--for=condition=Ready', `pod/${name.pod}`, patience]);
  const ticks = async () => (await succeed(cluster, ['-n', namespace, 'logs', name.pod])).length;
  for (const pid of await cluster.processesOf(name)) process.kill(pid, 'SIGSTOP');
  await delay(200);
  const frozen = await ticks();
  await delay(1000);
  assert.equal(await ticks(), frozen);
  for (const pid of await cluster.processesOf(name)) process.kill(pid, 'SIGCONT');
  await eventually(ticks, (length) => length > frozen);
});

test('a second node runs beside the first, and an image that is loaded later', { skip }, async (t) => {
  const first = await sharedNodeCluster();
  await using second = await startCluster({ node: true });
  assert.notEqual(second.nodeAddress, first.nodeAddress);

  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => discardFolder(folder));
  const later: Image = { reference: 'plumbline.test/later:1', archive: join(folder, 'later.tar') };
  const { pause } = await locateNodeBinaries();
  tar(['--create', `--file=${folder}/layer.tar`, `--directory=${dirname(pause)}`, basename(pause)]);
  await writeArchive(later, join(folder, 'layer.tar'), { Entrypoint: ['/pause'] });

  const run = (name: string) => succeed(second, ['run', name, `--image=${later.reference}`]);
  await run('early');
  const state = '{.status.containerStatuses[0].state.waiting.reason}';
  await eventually(
    () => succeed(second, ['get', 'pod', 'early', '-o', `jsonpath=${state}`]),
    (waitsFor) => waitsFor === 'ErrImagePull' || waitsFor === 'ImagePullBackOff',
  );
  await second.loadImage(later);
  await run('later');
  await succeed(second, ['wait', '--for=condition=Ready', 'pod/later', patience]);
});

test('a pod that is not root writes to its volume until the volume is full', { skip }, async (t) => {
  const { cluster, namespace } = await setUp(t);
  await apply(cluster, namespace, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
  });
  const script = 'id -u; stat -c %g /data; dd if=/dev/zero of=/data/file bs=1M 2>&1; du -m /data/file';
  const volume = {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    mounts: [{ name: 'data', mountPath: '/data' }],
  };
  await apply(cluster, namespace, pod({ name: 'writer' }, ['bash', '-c', script], volume));
  const end = '--for=jsonpath={.status.phase}=Succeeded';
  await succeed(cluster, ['-n', namespace, 'wait', end, 'pod/writer', patience]);
  const log = await succeed(cluster, ['-n', namespace, 'logs', 'writer']);
  assert.match(log, /^26\n26\n/);
  assert.match(log, /No space left on device/);
  const [, written = ''] = /(\d+)\s+\/data\/file/.exec(log) ?? [];
  assert.ok(Number(written) >= 48 && Number(written) < 64, `${written} MiB`);

  const path = await succeed(cluster, [
    'get',
    'pv',
    '-o',
    `jsonpath={.items[?(@.spec.claimRef.namespace=="${namespace}")].spec.local.path}`,
  ]);
  await succeed(cluster, ['-n', namespace, 'delete', 'pod/writer', 'pvc/data', '--wait']);
  await eventually(
    () => cluster.runOnNode('cat', ['/proc/mounts']),
    (mounts) => !mounts.includes(path),
  );
});

test('a claim for which the node has no space waits and says so', { skip }, async (t) => {
  const { cluster, namespace } = await setUp(t);
  await apply(cluster, namespace, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'huge' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Ti' } } },
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'huge' } }];
  await apply(
    cluster,
    namespace,
    pod({ name: 'waiting' }, ['true'], { volumes, mounts: [{ name: 'data', mountPath: '/data' }] }),
  );
  const events = await eventually(
    () =>
      succeed(cluster, [
        '-n',
        namespace,
        'get',
        'events',
        '--field-selector=reason=ProvisioningFailed',
        '-o',
        'jsonpath={.items[*].message}',
      ]),
    (messages) => messages !== '',
  );
  assert.match(events, /10485760 MiB are asked for, and the node has \d+ MiB left for volumes/);
});

test('the PostgreSQL image has what a database needs, as uid 26 and with a read-only root', { skip }, async (t) => {
  const { cluster, namespace } = await setUp(t);
  const programs = 'postgres initdb pg_dump pg_restore pg_rewind pg_basebackup psql patroni pgbackrest bash python3';
  const script = `set -e
    for program in ${programs}; do command -v $program; done
    id -u; whoami
    patroni --version; pgbackrest version; python3 -c 'import psycopg2, yaml'
    if touch /here 2>/dev/null; then echo 'the root is writable'; fi
    export HOME=/tmp
    initdb --auth=peer --data-checksums --locale=C.UTF-8 --encoding=UTF8 /tmp/data >/dev/null
    pg_ctl --wait --silent --options='-k /tmp' --log=/tmp/log -D /tmp/data start
    psql -h /tmp -Atc 'show server_version' postgres
    pg_dump -h /tmp postgres >/dev/null
    ls /etc/postgresql /var/lib/postgresql`;
  const volume = { volumes: [{ name: 'tmp', emptyDir: {} }], mounts: [{ name: 'tmp', mountPath: '/tmp' }] };
  await apply(cluster, namespace, pod({ name: 'contract' }, ['bash', '-c', script], volume));
  await eventually(
    () => succeed(cluster, ['-n', namespace, 'get', 'pod', 'contract', '-o', 'jsonpath={.status.phase}']),
    (phase) => phase === 'Succeeded' || phase === 'Failed',
  );
  const lines = (await succeed(cluster, ['-n', namespace, 'logs', 'contract'])).trimEnd().split('\n');
  const found = lines.splice(0, programs.split(' ').length);
  assert.deepEqual(
    found.map((path) => path.split('/').at(-1)),
    programs.split(' '),
  );
  assert.equal(found[0], '/usr/lib/postgresql/17/bin/postgres');
  assert.deepEqual(lines.slice(0, 2), ['26', 'postgres']);
  assert.match(
    lines.slice(2).join('\n'),
    /^patroni 4\.\S+\npgBackRest 2\.\S+\n17\.\d+ [^\n]*\n\/etc\/postgresql:\n\n\/var\/lib\/postgresql:$/,
  );
});

interface NodeStatus {
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
}

/** A namespace that enforces what Kubernetes calls "restricted". */
async function setUp(t: TestContext): Promise<{ readonly cluster: NodeCluster; readonly namespace: string }> {
  const cluster = await sharedNodeCluster();
  const namespace = await newNamespace(cluster);
  t.after(() => cluster.kubectlRun(['delete', 'namespace', namespace, '--wait=false']));
  await succeed(cluster, ['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  return { cluster, namespace };
}

interface Volume {
  readonly volumes: readonly object[];
  readonly mounts: readonly object[];
}

function pod(
  metadata: object,
  command: readonly string[],
  { volumes, mounts }: Volume = { volumes: [], mounts: [] },
): object {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 26, fsGroup: 26, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'main', image, command, securityContext, volumeMounts: mounts }],
      volumes,
    },
  };
}

async function apply(cluster: NodeCluster, namespace: string, manifest: object): Promise<void> {
  const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'apply', '-f', '-'], JSON.stringify(manifest));
  assert.equal(code, 0, stderr);
}

async function succeed(cluster: NodeCluster, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await cluster.kubectlRun(args);
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function eventually<T>(look: () => Promise<T>, isEnough: (seen: T) => boolean): Promise<T> {
  const deadline = Date.now() + patienceMs;
  let seen = await look();
  while (!isEnough(seen)) {
    assert.ok(Date.now() < deadline, `not within ${patienceMs / 1000} s, the last was ${JSON.stringify(seen)}`);
    await delay(100);
    seen = await look();
  }
  return seen;
}
