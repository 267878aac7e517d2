import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod, V1StatefulSet } from '@kubernetes/client-node';
import { render } from '../../../constructs/render.ts';
import { newNamespace, sharedCluster, startCluster, type Cluster } from '../../cluster/index.ts';
import { eventually } from '../../controller/running-plumbline.ts';
import { orders } from './orders.ts';

/** Three members whose pods run only by what is written into their status, as a kubelet would. */
class Members {
  readonly #cluster: Cluster;
  readonly #namespace: string;

  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
  }

  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.#cluster.kubectlRun(['-n', this.#namespace, ...args], stdin);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** As somebody does who runs no controller. */
  async apply(image: string): Promise<void> {
    const resource = orders({ replicas: 3, image, upgrade: { rollout: 'StatefulSet' } });
    const needed = render(resource).filter(({ kind }) => kind === 'ServiceAccount' || kind === 'StatefulSet');
    const items = needed.map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, namespace: this.#namespace },
    }));
    await this.kubectl(
      ['apply', '--server-side', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
  }

  /** Uids and images, in the order of the names. */
  async pods(): Promise<readonly { readonly uid: string | undefined; readonly image: string | undefined }[]> {
    const { items } = JSON.parse(await this.kubectl(['get', 'pods', '-o', 'json'])) as { items: V1Pod[] };
    return items
      .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => ({ uid: metadata?.uid, image: spec?.containers[0]?.image }));
  }

  /** Waits until the pods have these images. */
  async have(images: readonly string[]): Promise<void> {
    await eventually(
      `the images are ${images.join(', ')}`,
      async () => (await this.pods()).map(({ image }) => image).join() === images.join() || undefined,
    );
  }

  async ready(ordinal: number): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
    const patch = JSON.stringify({ status: { phase: 'Running', conditions } });
    await this.kubectl(['patch', 'pod', `orders-${ordinal}`, '--subresource=status', '--patch', patch]);
  }

  /** Waits until the controller of StatefulSets has seen the last change, and counts so many members as ready. */
  async counted(readyReplicas: number): Promise<void> {
    const isCounted = async (): Promise<true | undefined> => {
      const { metadata, status } = JSON.parse(
        await this.kubectl(['get', 'statefulset', 'orders', '-o', 'json']),
      ) as V1StatefulSet;
      const isSeen = status?.observedGeneration === metadata?.generation;
      return (isSeen && (status?.readyReplicas ?? 0) === readyReplicas) || undefined;
    };
    await eventually(`${readyReplicas} members count as ready`, isCounted);
  }
}

// kubernetes/kubernetes#67250
for (const { what, isOn } of [
  { what: 'goes by itself', isOn: false },
  { what: 'waits for one command, with the feature MaxUnavailableStatefulSet', isOn: true },
]) {
  test(`without a controller, a bad image that was corrected ${what}`, async () => {
    // GIVEN three members of which Kubernetes takes one down for a bad image
    const own = isOn
      ? await startCluster({ controllerManagerFlags: ['--feature-gates=MaxUnavailableStatefulSet=true'] })
      : undefined;
    await using _ = own;
    const cluster = own ?? (await sharedCluster());
    const members = new Members(cluster, await newNamespace(cluster));
    await members.apply('good:1');
    await members.have(['good:1', 'good:1', 'good:1']);
    for (const ordinal of [0, 1, 2]) await members.ready(ordinal);
    await members.counted(3);
    const others = (await members.pods()).slice(0, 2);
    await members.apply('bad:1');
    await members.have(['good:1', 'good:1', 'bad:1']);
    await members.counted(2);
    const [, , bad] = await members.pods();

    // WHEN the image is corrected
    await members.apply('good:1');
    if (isOn) {
      await members.counted(2);
      assert.deepEqual((await members.pods())[2], bad, 'Kubernetes does not touch what is not ready');
      await members.kubectl(['delete', 'pod', 'orders-2']);
    }

    // THEN the member is made again, and none of the others ever was
    await members.have(['good:1', 'good:1', 'good:1']);
    await members.ready(2);
    await members.counted(3);
    assert.deepEqual((await members.pods()).slice(0, 2), others);
  });
}
