import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { databaseServices } from '../../controller/database/kinds.ts';
import type { Reason } from '../../controller/health/reasons.ts';
import {
  newNamespace,
  sharedPodCluster,
  withoutOwnNode,
  withoutPods,
  type NodeCluster,
  type PodCluster,
} from '../cluster/index.ts';
import { storageClassName } from '../cluster/node/storage-class.ts';
import { databaseService, eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { patience } from '../patience.ts';

/** Nothing here takes that long unless it is broken. */
const patienceMs = 120_000;

/** Database `orders` in a namespace of its own. */
class Place implements AsyncDisposable {
  readonly cluster: PodCluster;
  readonly namespace: string;
  readonly running: RunningPlumbline;
  readonly #undo: (() => Promise<unknown>)[] = [];

  private constructor(cluster: PodCluster, namespace: string, running: RunningPlumbline) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.running = running;
  }

  static async open(): Promise<Place> {
    const cluster = await sharedPodCluster();
    const namespace = await newNamespace(cluster);
    return new Place(cluster, namespace, await RunningPlumbline.start(cluster, { namespace }));
  }

  async create(spec: Readonly<Record<string, unknown>>): Promise<void> {
    const resources = { requests: { cpu: '50m', memory: '256Mi' } };
    const { image } = this.cluster;
    const object = databaseService(this.namespace, 'orders', { image, resources, storage: { size: '512Mi' }, ...spec });
    await this.running.kube.create(object, { type: databaseServices, fieldManager: 'kubectl-create' });
  }

  async edit(spec: object): Promise<void> {
    const patch = { kind: 'merge', body: { spec }, fieldManager: 'kubectl-edit' } as const;
    await this.running.kube.patch(databaseServices, { namespace: this.namespace, name: 'orders' }, patch);
  }

  /** Runs kubectl in the namespace. @throws Error with what it said */
  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.kubectlRun(['-n', this.namespace, ...args], stdin);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Where a row says what it needs an own node for. */
  get node(): NodeCluster {
    if (this.cluster.own === undefined) throw new Error('this is an existing cluster');
    return this.cluster.own;
  }

  /** Makes an object of the cluster or of the namespace; returns what removes it, which happens at the end in any case. */
  async make(object: object): Promise<() => Promise<unknown>> {
    const text = JSON.stringify(object);
    await this.kubectl(['apply', '-f', '-'], text);
    const remove = () => this.kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], text);
    this.#undo.push(remove);
    return remove;
  }

  finally(undo: () => Promise<unknown>): void {
    this.#undo.push(undo);
  }

  async status(): Promise<DatabaseServiceStatus> {
    return (await this.running.database(this.namespace, 'orders'))['status'] ?? {};
  }

  /** Waits until Ready is False for a reason, and returns the whole status. */
  async notReady(reason: Reason): Promise<DatabaseServiceStatus> {
    let last: DatabaseServiceStatus = {};
    try {
      return await eventually(
        reason,
        async () => {
          last = await this.status();
          return last.conditions?.some((one) => one.type === 'Ready' && one.reason === reason) ? last : undefined;
        },
        patienceMs,
      );
    } catch (error) {
      throw new Error(JSON.stringify(last, null, 1), { cause: error });
    }
  }

  async isRunning(): Promise<void> {
    try {
      await eventually('it runs', async () => (await this.status()).phase === 'Running' || undefined, patienceMs);
    } catch (error) {
      throw new Error(JSON.stringify(await this.status(), null, 1), { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running.stop();
    for (const undo of this.#undo) await undo();
    await this.cluster.kubectlRun(['delete', 'namespace', this.namespace, '--wait=false']);
  }
}

type Cure = () => Promise<unknown>;

interface Row {
  readonly what: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** What is wrong with the cluster; returns what mends it. */
  readonly arrange?: (place: Place) => Promise<Cure>;
  /** What mends it, where the database itself is to be mended. */
  readonly cure?: (place: Place) => Promise<unknown>;
  readonly reason: Reason;
  /** What it does to the cluster that only its owner may do. */
  readonly ownNodeFor?: string;
  /** Whether nothing changes until somebody acts. Defaults to true. */
  readonly isStalled?: boolean;
  /** The thing, and the remedy. */
  readonly told: readonly RegExp[];
}

const rows: readonly Row[] = [
  {
    what: 'no default StorageClass',
    ownNodeFor: 'takes the default StorageClass away from everybody',
    arrange: async (place) => {
      const isDefault = (value: boolean) => () =>
        place.kubectl([
          'annotate',
          '--overwrite',
          'storageclass',
          storageClassName,
          `storageclass.kubernetes.io/is-default-class=${value}`,
        ]);
      place.finally(isDefault(true));
      await isDefault(false)();
      return isDefault(true);
    },
    reason: 'NoDefaultStorageClass',
    told: [/data-orders-0/, /make one the default/],
  },
  {
    what: 'a StorageClass that does not exist',
    spec: { storage: { size: '512Mi', storageClass: 'plumbline-absent' } },
    cure: async (place) => {
      const { provisioner, parameters } = await defaultClass(place);
      const [apiVersion, metadata] = ['storage.k8s.io/v1', { name: 'plumbline-absent' }];
      const volumeBindingMode = 'WaitForFirstConsumer';
      return place.make({ apiVersion, kind: 'StorageClass', metadata, provisioner, parameters, volumeBindingMode });
    },
    reason: 'StorageClassNotFound',
    told: [/StorageClass plumbline-absent/, /create it/],
  },
  {
    what: 'a quota that forbids the pods',
    arrange: async (place) => {
      const metadata = { name: 'tight' };
      const remove = await place.make({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata,
        spec: { hard: { pods: '0' } },
      });
      const counted = ['get', 'resourcequota', 'tight', '-o', 'jsonpath={.status.hard.pods}'];
      await eventually('the quota is in force', async () => (await place.kubectl(counted)) === '0' || undefined);
      return remove;
    },
    reason: 'QuotaExceeded',
    told: [/exceeded quota: tight/, /raise the quota/],
  },
  {
    what: 'mariadb-operator/mariadb-operator#1399: a LimitRange that allows less',
    arrange: (place) =>
      place.make({
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'small' },
        spec: { limits: [{ type: 'Container', max: { memory: '200Mi' } }] },
      }),
    reason: 'LimitRangeExceeded',
    told: [/maximum memory usage per Container is 200Mi, but limit is 256Mi/, /spec\.resources/],
  },
  {
    what: 'CrunchyData/postgres-operator#517: a platform that assigns the user',
    arrange: async (place) => {
      const name = `ranges-${place.namespace}`;
      const removePolicy = await place.make({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
          },
          validations: [
            {
              expression: '!has(object.spec.securityContext.runAsUser)',
              message: 'runAsUser: Invalid value: 26: must be in the ranges: [1000680000, 1000689999]',
            },
          ],
        },
      });
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } };
      const removeBinding = await place.make({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
      });
      await eventually('the policy is in force', async () => {
        const probe = ['run', 'probe', '--image=probe', '--dry-run=server'];
        const overrides = '--overrides={"spec":{"securityContext":{"runAsUser":26}}}';
        const { stderr } = await place.cluster.kubectlRun(['-n', place.namespace, ...probe, overrides]);
        return stderr.includes('must be in the ranges') || undefined;
      });
      return async () => {
        await removeBinding();
        await removePolicy();
      };
    },
    reason: 'UserNotAdmitted',
    told: [/must be in the ranges/, /postgres and steward run as uid, gid and fsGroup 26/],
  },
  {
    what: 'an image that is not there',
    spec: { image: 'registry.invalid/pg:17' },
    cure: (place) => place.edit({ image: place.cluster.image }),
    reason: 'ImageNotPulled',
    told: [/registry\.invalid\/pg:17 of orders-0/, /spec\.image/],
  },
  {
    what: 'a node too small for the requests',
    spec: { resources: { requests: { cpu: '4096', memory: '256Mi' } } },
    cure: (place) => place.edit({ resources: { requests: { cpu: '50m' } } }),
    reason: 'InsufficientResources',
    isStalled: false,
    told: [/orders-0/, /spec\.resources\.requests \(cpu 4096, memory 256Mi\)/, /Insufficient cpu/],
  },
  {
    what: 'a volume too small for initdb',
    ownNodeFor: 'relies on volumes that are no larger than they say, and grows one',
    spec: { storage: { size: '40Mi' } },
    cure: async (place) => {
      const name = await place.kubectl(['get', 'pvc', 'data-orders-0', '-o', 'jsonpath={.spec.volumeName}']);
      const path = await place.kubectl(['get', 'pv', name, '-o', 'jsonpath={.spec.local.path}']);
      // As a driver does that grows volumes only while nobody uses them.
      await place.kubectl(['cordon', place.node.nodeName]);
      place.finally(() => place.kubectl(['uncordon', place.node.nodeName]));
      await place.kubectl(['delete', 'pod', 'orders-0', patience]);
      await eventually('the volume is free', () => isGrown(place, path));
      await place.kubectl(['uncordon', place.node.nodeName]);
    },
    reason: 'VolumeFull',
    told: [/data-orders-0/, /needs 80/, /spec\.storage\.size/],
  },
  {
    what: 'a volume that the user of the members cannot write to',
    ownNodeFor: 'makes a folder on the node',
    spec: { storage: { size: '512Mi', storageClass: 'by-hand' } },
    arrange: async (place) => {
      const { node, namespace } = place;
      const path = (await node.runOnNode('mktemp', ['-d', '/tmp/plumbline-volume-XXXXXX'])).trim();
      place.finally(() => node.runOnNode('rm', ['-rf', path]));
      await place.make({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: namespace },
        spec: {
          capacity: { storage: '512Mi' },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          storageClassName: 'by-hand',
          claimRef: { namespace, name: 'data-orders-0' },
          // Kubernetes gives such a folder to nobody.
          hostPath: { path },
        },
      });
      return () => node.runOnNode('chown', ['26:26', path]);
    },
    reason: 'VolumeNotWritable',
    told: [/orders-0: uid 26 cannot write to the data volume/],
  },
];

const growScript = `umount "$1"
truncate --size=512M "$1.ext4"
e2fsck -fp "$1.ext4" >/dev/null || [ $? = 1 ]
resize2fs "$1.ext4"
mount -o loop,nosuid,nodev "$1.ext4" "$1"`;

/** Undefined while the kubelet has not let go of the volume. */
async function isGrown({ node }: Place, path: string): Promise<true | undefined> {
  try {
    await node.runOnNode('sh', ['-euc', growScript, 'grow', path]);
    return true;
  } catch (error) {
    if (String(error).includes('target is busy')) return undefined;
    throw error;
  }
}

/** What makes volumes here, whoever's cluster it is. */
async function defaultClass(place: Place): Promise<{ readonly provisioner: string; readonly parameters?: object }> {
  const mark = `.metadata.annotations.storageclass\\.kubernetes\\.io/is-default-class=="true"`;
  const found = await place.kubectl(['get', 'storageclass', '-o', `jsonpath={.items[?(@${mark})]}`]);
  return JSON.parse(found) as { provisioner: string };
}

for (const { what, spec = {}, arrange, cure, ownNodeFor, reason, isStalled = true, told } of rows) {
  const skip = ownNodeFor === undefined ? withoutPods() : withoutOwnNode(ownNodeFor);
  test(`${what}: ${reason}`, { skip }, async (t) => {
    // GIVEN bad input, or a cluster that lacks something
    await using place = await Place.open();
    const mend = await arrange?.(place);

    // WHEN a database is created
    const begun = performance.now();
    await place.create(spec);

    // THEN its status names the thing and the remedy, and says whether anything changes by itself
    const status = await place.notReady(reason);
    t.diagnostic(`told after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    assert.equal(status.phase, 'Provisioning');
    const conditionOf = (type: string) => status.conditions?.find((one) => one.type === type);
    const message = conditionOf('Ready')?.message ?? '';
    for (const words of told) assert.match(message, words);
    const { status: stalled, reason: why } = conditionOf('Stalled') ?? {};
    assert.deepEqual([stalled, why], isStalled ? ['True', reason] : ['False', 'NothingToDo']);

    // AND it runs when that is mended
    await (mend ?? (() => cure?.(place)))();
    await place.isRunning();
    assert.equal((await place.status()).conditions?.find(({ type }) => type === 'Stalled')?.status, 'False');
  });
}

const notFilled = withoutOwnNode('fills a volume, and whatever else has its file system');

test('a volume that fills up while the database runs: VolumeFull', { skip: notFilled }, async () => {
  // GIVEN a database that runs and keeps its WAL, which it would use again otherwise, and a volume that something else has filled
  await using place = await Place.open();
  await place.create({ parameters: { wal_keep_size: '256MB' } });
  await place.isRunning();
  const inPod = (script: string) => place.kubectl(['exec', 'orders-0', '-c', 'postgres', '--', 'bash', '-c', script]);
  await inPod('dd if=/dev/zero of=/data/filler bs=1M 2>/dev/null || true; sync /data/filler');

  // WHEN PostgreSQL finds no room for its WAL
  const write = `psql -X -U postgres -d app -c "create table t as select repeat(md5(n::text), 50) from generate_series(1, 200000) n"`;
  await assert.rejects(inPod(`${write}; for i in 1 2 3; do ${write}; done; false`));
  // It ends, and starts again on segments of WAL that it has in store: each turn takes one, until there is none and it stays down.
  const next = `psql -X -U postgres -c "select pg_logical_emit_message(false, '', 'x')" -c 'select pg_switch_wal()'`;
  await inPod(`down=0; while (( down < 8 )); do if ${next}; then down=0; else down=$((down + 1)); sleep 1; fi; done`);

  // THEN that is told once the server is down, and it goes on by itself when there is room
  const status = await place.notReady('VolumeFull');
  assert.equal(status.phase, 'Degraded');
  assert.match(status.conditions?.find(({ type }) => type === 'Ready')?.message ?? '', /data-orders-0\) is full/);
  await inPod('rm /data/filler');
  await place.isRunning();
});
