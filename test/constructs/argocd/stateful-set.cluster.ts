import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { timestamp, type KubeObject } from '../../../controller/kube/index.ts';
import { healthOf } from '../../argocd/health.ts';
import { PlayedMembers, ready } from '../../controller/database/played-members.ts';
import { Shop } from '../../controller/database/shop.ts';
import { eventually } from '../../controller/running-plumbline.ts';

const minute = 60_000;

/** As it would be if everything had happened earlier. */
function aged(object: KubeObject, byMs: number): KubeObject {
  const earlier = (time: string | undefined) => timestamp(Date.parse(time ?? '') - byMs);
  const { managedFields = [], creationTimestamp } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      creationTimestamp: earlier(creationTimestamp),
      managedFields: managedFields.map((entry) => ({ ...entry, time: earlier(entry.time) })),
    },
  };
}

describe('of a database', () => {
  let shop: Shop;
  let members: PlayedMembers;
  before(async () => {
    shop = await Shop.open();
    members = new PlayedMembers(shop, 'orders');
    await shop.create('orders', { replicas: 2 });
  });
  after(async () => {
    await shop[Symbol.asyncDispose]();
  });

  /** As the API server has it, once so many members are ready. */
  async function statefulSet(readyReplicas: number): Promise<KubeObject> {
    return eventually(`${readyReplicas} members are ready`, async () => {
      const found = await shop.get('StatefulSet', 'orders');
      const status = found?.['status'] as { readonly readyReplicas?: number; readonly replicas?: number } | undefined;
      return status?.replicas === 2 && (status.readyReplicas ?? 0) === readyReplicas ? found : undefined;
    });
  }

  for (const timeZone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
    test(`members that do not come up are Degraded after ten minutes without an event (in ${timeZone})`, async () => {
      const object = await statefulSet(0);
      assert.deepEqual(await healthOf(object, timeZone), {
        status: 'Progressing',
        message: '0 of 2 members are ready.',
      });
      const patient = await healthOf(aged(object, 8 * minute), timeZone);
      assert.equal(patient.status, 'Progressing');
      const { status, message } = await healthOf(aged(object, 11 * minute), timeZone);
      assert.equal(status, 'Degraded');
      assert.match(message ?? '', /^0 of 2 members are ready, and nothing has happened since \d{4}-\S+Z\.$/);
    });
  }

  test('a member that becomes ready is an event', async () => {
    const old = aged(await statefulSet(0), 11 * minute);
    await members.say(0, ready);
    const now = await statefulSet(1);
    const entry = now.metadata.managedFields?.find(({ subresource }) => subresource === 'status');
    assert(entry, 'Kubernetes says when it wrote the status last');
    const { managedFields = [] } = old.metadata;
    const kept = managedFields.filter(({ subresource }) => subresource !== 'status');
    const object = { ...now, metadata: { ...old.metadata, managedFields: [...kept, entry] } };
    assert.deepEqual(await healthOf(object), { status: 'Progressing', message: '1 of 2 members are ready.' });
  });

  test('when all are ready it is Healthy, however long ago that was', async () => {
    await members.say(1, ready);
    const object = aged(await statefulSet(2), 600 * minute);
    assert.deepEqual(await healthOf(object), { status: 'Healthy', message: '2 of 2 members are ready.' });
  });

  test('members of an older template run, and it is told how many are of the newest', async () => {
    await shop.patch('StatefulSet', 'orders', {
      body: { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } },
    });
    const object = await eventually('Kubernetes has seen the template', async () => {
      const found = await shop.get('StatefulSet', 'orders');
      const status = found?.['status'] as { readonly updatedReplicas?: number } | undefined;
      return (status?.updatedReplicas ?? 0) === 0 ? found : undefined;
    });
    const { status, message } = await healthOf(object);
    assert.deepEqual(
      [status, message],
      ['Healthy', '2 of 2 members are ready, 0 with the newest template.'],
      'it waits for Plumbline, not for Argo CD',
    );
  });
});

describe('of somebody else', () => {
  const rolling = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
  const settled = {
    observedGeneration: 2,
    replicas: 3,
    readyReplicas: 3,
    updatedReplicas: 3,
    currentReplicas: 3,
    currentRevision: 'web-1',
    updateRevision: 'web-1',
  };
  // The words of Argo CD's own check, gitops-engine/pkg/health/health_statefulset.go.
  const rows: readonly (readonly [what: string, spec: object, status: object, health: string])[] = [
    ['a new one', {}, {}, 'Progressing: Waiting for statefulset spec update to be observed...'],
    [
      'one whose spec was not seen',
      {},
      { ...settled, observedGeneration: 1 },
      'Progressing: Waiting for statefulset spec update to be observed...',
    ],
    [
      'one whose pods are not ready for hours',
      {},
      { ...settled, readyReplicas: 1 },
      'Progressing: Waiting for 2 pods to be ready...',
    ],
    [
      'a partitioned rollout under way',
      { updateStrategy: rolling },
      { ...settled, updatedReplicas: 1 },
      'Progressing: Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...',
    ],
    [
      'a partitioned rollout that ended',
      { updateStrategy: rolling },
      { ...settled, updatedReplicas: 2 },
      'Healthy: partitioned roll out complete: 2 new pods have been updated...',
    ],
    [
      'one with OnDelete',
      { updateStrategy: { type: 'OnDelete' } },
      { ...settled, updatedReplicas: 0 },
      'Healthy: statefulset has 3 ready pods',
    ],
    [
      'a rollout under way',
      { updateStrategy: { type: 'RollingUpdate' } },
      { ...settled, updatedReplicas: 1, updateRevision: 'web-2' },
      'Progressing: waiting for statefulset rolling update to complete 1 pods at revision web-2...',
    ],
    [
      'one that is settled',
      { updateStrategy: { type: 'RollingUpdate' } },
      settled,
      'Healthy: statefulset rolling update complete 3 pods at revision web-1...',
    ],
  ];
  for (const [what, spec, status, health] of rows) {
    test(`Argo CD judges as it does without Plumbline: ${what}`, async () => {
      const judged = await healthOf({
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'web', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z' },
        spec: { replicas: 3, ...spec },
        status,
      });
      assert.equal(`${judged.status}: ${judged.message}`, health);
    });
  }
});
