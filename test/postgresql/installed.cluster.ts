import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { destinationRights, leaseRights, metricsRights } from '../../constructs/install/rights.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import {
  controllerImage,
  newNamespace,
  postgresqlImage,
  sharedNodeCluster,
  withoutOwnNode,
  type Image,
  type NodeCluster,
} from '../cluster/index.ts';
import { auditedRequests, userOf } from '../constructs/install/audit-log.ts';
import { kubectl } from '../constructs/install/installed.ts';
import { rightsIn, rightsUsed } from '../constructs/install/right.ts';
import { databaseService, eventually } from '../controller/running-plumbline.ts';
import { readPage, runInShell, shellCommands } from '../docs/shell.ts';
import { patience } from '../patience.ts';

const skip = withoutOwnNode('gives its node an image');

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const [api, plumbline] = [`${dist}/crds`, `${dist}/plumbline`];
const system = 'plumbline-system';
const controller = 'plumbline-controller';
const user = userOf(system, controller);

const isWait = (command: string): boolean => command.includes(' rollout status ');

let cluster: NodeCluster;
let image: Image;
let namespace: string;
describe('Plumbline, installed from dist/', { skip }, () => {
  before(async () => {
    cluster = await sharedNodeCluster();
    image = await controllerImage(cluster.folder);
    await cluster.loadImage(image);
    namespace = await newNamespace(cluster);
  });
  after(async () => {
    await cluster.kubectlRun(['delete', '--ignore-not-found', '-f', plumbline]);
    await cluster.kubectlRun([
      'delete',
      'validatingadmissionpolicybindings,validatingadmissionpolicies',
      '--selector=app.kubernetes.io/part-of=plumbline',
    ]);
  });

  test('the files of dist/ are all that an empty cluster needs: two controllers become ready, and one leads', async (t) => {
    // WHEN they are applied, as the documentation says
    await run('apply', '--server-side', '-f', api, '-f', plumbline);
    const [wait = assert.fail('the page waits')] = shellCommands(readPage('operations.md')).filter(isWait);
    const { code, stderr } = await runInShell(cluster, `${wait} ${patience}`);
    assert.equal(code, 0, stderr);

    // THEN both run, and one of them has the lease
    const names = await controllers();
    assert.equal(names.length, 2);
    const holder = await eventually('one leads', async () => {
      const lease = await get<{ spec: { holderIdentity?: string } }>('lease', '-n', system, controller).catch(
        () => undefined,
      );
      return lease?.spec.holderIdentity;
    });
    assert(
      names.some((name) => holder.startsWith(`${name}_`)),
      holder,
    );

    t.diagnostic(`image: ${(statSync(image.archive).size / 1e6).toFixed(0)} MB`);
    for (const pod of names) {
      const [pid = 0] = await cluster.processesOf({ namespace: system, pod, container: 'controller' });
      const filled = await eventually('its caches are full', () => timeOf(pod, 'caches are filled'));
      t.diagnostic(`${pod}: ${filled - startOf(pid)} ms from its start to full caches; ${residentMb(pid)} MB resident`);
    }
  });

  test('its pods meet the level "restricted", have no shell and write nowhere but in /tmp', async () => {
    const [pod = ''] = await controllers();
    const node = (script: string) => cluster.kubectlRun(['-n', system, 'exec', pod, '--', 'node', '-e', script]);
    assert.notEqual((await cluster.kubectlRun(['-n', system, 'exec', pod, '--', 'sh', '-c', 'true'])).code, 0);
    assert.match((await node("fs.writeFileSync('/plumbline/x', '')")).stderr, /EROFS/);
    assert.equal((await node("fs.writeFileSync('/tmp/x', '')")).code, 0);
    assert.equal((await node('console.log(process.getuid())')).stdout.trim(), '65532');
  });

  test('its metrics are read by whoever may get /metrics, and by nobody else', async () => {
    await run('-n', namespace, 'create', 'serviceaccount', 'prometheus');
    const token = () => run('-n', namespace, 'create', 'token', 'prometheus');
    assert.equal((await scrape('')).status, 401);
    assert.equal((await scrape(await token())).status, 403);
    const account = `--serviceaccount=${namespace}:prometheus`;
    await run('create', 'clusterrolebinding', namespace, `--clusterrole=${controller}-metrics-reader`, account);
    // Another token: of the first it is remembered for a while that it may not.
    const { status, text } = await scrape(await token());
    await run('delete', 'clusterrolebinding', namespace);
    assert.equal(status, 200);
    assert.match(text, /^leader_election_master_status\{name="plumbline-controller"\} [01]$/m);
  });

  test('applying the files again changes nothing', async () => {
    const versions = () =>
      run(
        'get',
        '-f',
        api,
        '-f',
        plumbline,
        '-o',
        'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\\n"}{end}',
      );
    const before = await versions();
    await run('apply', '--server-side', '-f', api, '-f', plumbline);
    assert.equal(await versions(), before);
  });

  test('it makes a database and keeps it true, and is refused nothing', async () => {
    const { reference } = await postgresqlImage();
    const resources = { requests: { cpu: '50m', memory: '256Mi' } };
    const backup = { schedule: '0 0 1 1 *', volume: { size: '64Mi' } };
    const spec = { image: reference, resources, storage: { size: '512Mi' }, backup };
    await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(databaseService(namespace, 'orders', spec)));
    await eventually('it runs', async () => (await statusOf('orders'))?.phase === 'Running' || undefined, 180_000);
    await run('-n', namespace, 'delete', 'service', 'orders');
    await eventually(
      'its Service is made again',
      async () => (await cluster.kubectlRun(['-n', namespace, 'get', 'service', 'orders'])).code === 0 || undefined,
    );

    // … and says of a GitDestination what is in its way: this image has no git
    const destination = {
      apiVersion: 'plumbline.dev/v1alpha1',
      kind: 'GitDestination',
      metadata: { name: 'main' },
      spec: { url: 'file:///tmp/fleet.git' },
    };
    await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(destination));
    await run('wait', '--for=jsonpath={.status.conditions[0].reason}=GitMissing', 'gitdestination/main', patience);
    await run('delete', 'gitdestination', 'main');

    const requests = auditedRequests(cluster, user);
    assert.deepEqual(
      requests.filter(({ isDenied }) => isDenied),
      [],
    );
    const used = rightsUsed(requests);
    for (const right of rightsIn([...destinationRights, ...leaseRights, ...metricsRights]))
      assert(used.has(right), `${right} is used`);
  });

  test('each command of the runbooks works', { skip }, async () => {
    for (const command of shellCommands(readPage('alerts.md')).filter((one) => !one.endsWith('--previous'))) {
      const { code, stderr } = await runInShell(cluster, command.replaceAll('-n shop ', `-n ${namespace} `));
      assert.equal(code, 0, `${command}: ${stderr}`);
      assert.match(stderr, /^(No resources found.*\n)?$/, command);
    }
  });

  test(
    'when it is uninstalled, in the order that the documentation gives, databases run on and nothing hangs',
    { skip },
    async () => {
      // GIVEN a member that runs
      const member = async () =>
        (await get<Pods>('pods', '-n', namespace, '--selector=plumbline.dev/database=orders')).items.map(
          ({ metadata }) => metadata.uid,
        );
      const before = await member();
      assert.equal(before.length, 1);

      // WHEN Plumbline goes
      await run('delete', '--ignore-not-found', patience, '-f', plumbline);

      // THEN its namespace has come to its end, and the database answers as before
      assert.notEqual((await cluster.kubectlRun(['get', 'namespace', system])).code, 0);
      assert.deepEqual(await member(), before);
      const answer = await run(
        '-n',
        namespace,
        'exec',
        'orders-0',
        '-c',
        'postgres',
        '--',
        'psql',
        '-U',
        'postgres',
        '-h',
        '/run/postgresql',
        '-Atc',
        'select 1',
      );
      assert.equal(answer.trim(), '1');

      // WHEN a database is deleted without any controller
      await run('-n', namespace, 'delete', 'dbs/orders', patience);

      // THEN all of it goes, and its namespace can go as well
      await eventually(
        'nothing of it is left',
        async () =>
          (await run('-n', namespace, 'get', 'statefulsets,pods,services,cronjobs', '-o', 'name')) === '' || undefined,
      );
      await run('delete', 'namespace', namespace, patience);
    },
  );
});

function run(...args: readonly string[]): Promise<string> {
  return kubectl(cluster, args);
}

async function get<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await run('get', '-o', 'json', ...args)) as T;
}

interface Pods {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
}

async function controllers(): Promise<readonly string[]> {
  const { items } = await get<Pods>('pods', '-n', system);
  return items.map(({ metadata }) => metadata.name);
}

async function statusOf(name: string): Promise<DatabaseServiceStatus | undefined> {
  return (await get<{ status?: DatabaseServiceStatus }>('dbs', name, '-n', namespace)).status;
}

/** When a controller said something, in milliseconds. */
async function timeOf(pod: string, message: string): Promise<number | undefined> {
  const lines = (await run('-n', system, 'logs', pod)).split('\n').filter((line) => line.startsWith('{'));
  const found = lines
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly time: string })
    .find(({ msg }) => msg === message);
  return found === undefined ? undefined : Date.parse(found.time);
}

/** When a process was started, in milliseconds; see proc_pid_stat(5). */
function startOf(pid: number): number {
  const [bootSeconds] = /(?<=^btime )\d+/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
  return Number(bootSeconds) * 1000 + Number(ticks) * 10;
}

function residentMb(pid: number): number {
  const [kib] = /(?<=^VmRSS:\s+)\d+/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round((Number(kib) * 1024) / 1e6);
}

/** Reads the metrics through the Service, from a pod of the cluster. */
async function scrape(token: string): Promise<{ readonly status: number; readonly text: string }> {
  const [pod = ''] = await controllers();
  // The token goes in by standard input, for others can read arguments; it ends with its line, since the end of the input may come before anybody reads. The certificate is one that each pod has made for itself.
  const script = `
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    let token = '';
    const read = async () => {
      process.stdin.destroy();
      const options = { headers: { authorization: 'Bearer ' + token.trim() }, signal: AbortSignal.timeout(30000) };
      const answer = await fetch('https://plumbline-metrics.${system}.svc:8443/metrics', options);
      console.log(JSON.stringify({ status: answer.status, text: await answer.text() }));
    };
    process.stdin.on('data', (text) => {
      token += text;
      if (token.endsWith('\\n')) read();
    });`;
  const args = ['-n', system, 'exec', '-i', pod, '--', 'node', '-e', script];
  return JSON.parse(await kubectl(cluster, args, `${token.trim()}\n`)) as {
    readonly status: number;
    readonly text: string;
  };
}
