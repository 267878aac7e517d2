import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { render } from '../../constructs/render.ts';
import { newNamespace, pauseImage, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { monotonicSeconds } from './acknowledgements.ts';
import { NodeDatabase } from './node-database.ts';
import { storedRows, Writer } from './writer.ts';

const skip = withoutPods();

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

// kubernetes/kubernetes#67250
test('without a controller, a bad image takes one member down, and goes when it is corrected', { skip }, async (t) => {
  // GIVEN three members of a team that applies what is rendered, and an application that writes
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await using database = await NodeDatabase.of(cluster, { namespace, replicas: 3, spec: { durability: 'Sync' } });
  const apply = async (items: readonly object[]): Promise<void> => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'apply', '--server-side', '-f', '-'], list);
    assert.equal(code, 0, stderr);
  };
  await apply([...secrets(namespace), ...manifests(namespace, cluster.image)]);
  await database.allStream(240_000);
  await using writer = await Writer.start(database);

  for (const { what, image, symptom } of [
    { what: 'cannot be pulled', image: 'plumbline.test/absent:17', symptom: /ErrImagePull|ImagePullBackOff/ },
    {
      what: 'has nothing to start',
      image: cluster.own === undefined ? 'registry.k8s.io/pause:3.10' : pauseImage,
      symptom: /RunContainerError|CrashLoopBackOff/,
    },
  ]) {
    await t.test(`an image that ${what}`, async (t) => {
      const [last = '', ...others] = database.members.toReversed();
      const before = await Promise.all(others.map((name) => readySince(database, name)));

      // WHEN it is applied
      await apply(manifests(namespace, image));
      await eventually(`${last} is in trouble`, async () => symptom.test(await waitsFor(database, last)) || undefined);

      // THEN the other members have been ready all the time, and rows are stored
      await writer.acknowledgedAfter(monotonicSeconds());
      assert.deepEqual(await Promise.all(others.map((name) => readySince(database, name))), before);

      // AND a correction is enough
      const begun = performance.now();
      await apply(manifests(namespace, cluster.image));
      await database.allStream(120_000);
      t.diagnostic(`all three stream ${((performance.now() - begun) / 1000).toFixed(1)} s after the correction`);
      assert.deepEqual(await Promise.all(others.map((name) => readySince(database, name))), before);
    });
  }

  // AND no row is lost
  await writer.acknowledgedAfter(monotonicSeconds());
  const acknowledged = await writer.stop();
  const stored = await storedRows(database);
  assert.deepEqual(
    acknowledged.filter(({ number }) => !stored.has(number)),
    [],
  );
});

function manifests(namespace: string, image: string): readonly object[] {
  const resource: DatabaseServiceDocument = {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name: 'orders', namespace },
    spec: {
      engine: 'postgresql',
      version: '17',
      image,
      replicas: 3,
      durability: 'Sync',
      storage: { size: '512Mi' },
      resources: { requests: { cpu: '50m', memory: '256Mi' } },
      credentials: { source: 'Existing', secretName: namesOf('orders').credentials },
      tls: { mode: 'Off' },
      upgrade: { rollout: 'StatefulSet' },
    },
  };
  return render(resource);
}

/** Those that are the team's own to make. */
function secrets(namespace: string): readonly object[] {
  const secret = (name: string, stringData: Readonly<Record<string, string>>) => {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
  };
  const password = () => crypto.randomUUID();
  const names = namesOf('orders');
  return [
    secret(names.credentials, { username: 'app', password: password(), dbname: 'app' }),
    secret(names.system, { superuser: password(), replication: password(), rewind: password(), restapi: password() }),
  ];
}

/** Which pod a member is, and since when it has been ready. */
async function readySince(database: NodeDatabase, member: string): Promise<readonly unknown[]> {
  const { metadata, status } = await database.pod(member);
  const conditions: readonly Condition[] = status.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return [metadata.uid, ready?.status, ready?.lastTransitionTime];
}

/** Why the containers of a member do not run. */
async function waitsFor({ cluster, namespace }: NodeDatabase, member: string): Promise<string> {
  const path = '{.status.containerStatuses[*].state.waiting.reason}';
  const { stdout } = await cluster.kubectlRun(['-n', namespace, 'get', 'pod', member, '-o', `jsonpath=${path}`]);
  return stdout;
}
