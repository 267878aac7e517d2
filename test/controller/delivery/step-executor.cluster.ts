import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { namesOf } from '../../../constructs/names.ts';
import { typeOf } from '../../../controller/database/kinds.ts';
import { StepExecutor } from '../../../controller/delivery/step-executor.ts';
import { isObjectMissing } from '../../../controller/kube/index.ts';
import type { Action } from '../../../controller/rollout/index.ts';
import { realClient, type RealClient } from '../kube/real-client.ts';
import { databaseService } from '../running-plumbline.ts';

const configMaps = typeOf({ kind: 'ConfigMap' });
const names = namesOf('orders');
const neverAborted = new AbortController().signal;
const step: Action = {
  kind: 'switchover',
  from: 'orders-0',
  candidates: ['orders-1', 'orders-2'],
  isOpen: true,
  message: 'orders-0 hands over, for it is the last to be renewed.',
};

let real: RealClient;

/** What Patroni keeps. */
async function put(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const { kube, namespace } = real;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, annotations } };
  await kube.apply(object, { type: configMaps, fieldManager: 'Patroni', force: true });
}

async function asked(): Promise<Readonly<Record<string, string>> | undefined> {
  const { kube, namespace } = real;
  try {
    return (await kube.get(configMaps, { namespace, name: names.patroniFailover })).metadata.annotations;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}

async function switchOver() {
  const { kube, namespace } = real;
  const resource = databaseService(namespace, 'orders') as unknown as StoredDatabaseService;
  return new StepExecutor(kube).carryOut(step, { resource, pod: undefined }, neverAborted);
}

// Hooks of a file are those of every file that shares its process.
describe('a switchover', () => {
  beforeEach(async () => {
    real = await realClient();
  });
  afterEach(async () => {
    await real[Symbol.asyncDispose]();
  });

  test('while a replica is not in step the primary goes on, for the new one would not count on that replica', async () => {
    await put(names.patroniLeader, { leader: 'orders-0' });
    await put(names.patroniSync, { leader: 'orders-0', sync_standby: 'orders-2' });
    assert.deepEqual(await switchOver(), {
      kind: 'not-yet',
      message: 'orders-0 hands over once orders-1 is in step with it.',
    });
    assert.equal(await asked(), undefined);
  });

  for (const [what, sync] of [
    ['all replicas are in step', { leader: 'orders-0', sync_standby: 'orders-1,orders-2' }],
    ['no replica acknowledges commits', {}],
  ] as const) {
    test(`where ${what} the switchover is asked for, once`, async () => {
      await put(names.patroniLeader, { leader: 'orders-0' });
      await put(names.patroniSync, sync);
      assert.equal((await switchOver()).kind, 'done');
      assert.deepEqual(await asked(), { leader: 'orders-0', member: 'orders-1', 'plumbline.dev/anyone': 'orders-1' });
      assert.equal((await switchOver()).kind, 'pending');
    });
  }

  test('nothing is asked of a primary that is none any more', async () => {
    await put(names.patroniLeader, { leader: 'orders-1' });
    assert.equal((await switchOver()).kind, 'outdated');
    assert.equal(await asked(), undefined);
  });
});
