import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gitDestinations } from '../../../controller/delivery/destinations/destinations.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { healthOf } from '../../argocd/health.ts';
import { newNamespace, sharedCluster } from '../../cluster/index.ts';
import { Shop } from '../../controller/database/shop.ts';
import { Remote } from '../../controller/delivery/git/remote.ts';
import { eventually, installCrd } from '../../controller/running-plumbline.ts';
import { discardFolder } from '../../discard-folder.ts';

// A controller looks after every destination of a cluster, so it lives no longer than this test.
describe('the health of a GitDestination', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-git-'));
  const remote = new Remote();
  let shop: Shop;
  let name: string;
  before(async () => {
    const cluster = await sharedCluster();
    await installCrd(cluster);
    const namespace = await newNamespace(cluster, 'system');
    shop = await Shop.open({ destinations: { namespace, folder: () => folder, cluster: 'prod' } });
    name = `health-${shop.namespace}`;
  });
  after(async () => {
    await shop.kube.delete(gitDestinations, { name }).catch(() => undefined);
    await shop[Symbol.asyncDispose]();
    discardFolder(folder);
    remote.remove();
  });

  const live = (): Promise<KubeObject> => shop.kube.get(gitDestinations, { name });

  async function health(status: string, message: RegExp): Promise<void> {
    await eventually(`it is ${status}, ${message}`, async () => {
      const found = await healthOf(await live());
      return (found.status === status && message.test(found.message ?? '')) || undefined;
    });
  }

  test('a GitDestination is Healthy when its repository is reached, and Degraded with the reason when it is not', async () => {
    const { apiVersion, kind } = gitDestinations;
    const object = { apiVersion, kind, metadata: { name }, spec: { url: remote.url } };
    await shop.kube.create(object, { type: gitDestinations, fieldManager: 'kubectl-create' });
    await health('Healthy', /^Reached: /);

    const { status: _, ...unseen } = await live();
    assert.equal((await healthOf(unseen)).status, 'Progressing');

    const body = { spec: { url: `${remote.url}-nowhere` } };
    await shop.kube.patch(gitDestinations, { name }, { kind: 'merge', body, fieldManager: 'kubectl-edit' });
    await health('Degraded', /^RemoteUnreachable: /);
  });
});
