import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { secretsAnnotation } from '../../constructs/labels.ts';
import type { Children } from '../database/children.ts';
import type { Mounts } from '../database/delivery.ts';
import { pods } from '../database/kinds.ts';
import { staleMounts } from '../database/stale-mounts.ts';
import type { Kube } from '../kube/index.ts';

/** Field manager of the annotation, and of nothing else. */
const fieldManager = 'plumbline-secrets';

/**
 * Makes the kubelet refresh mounted Secrets at once: it does so whenever it looks at a pod, which is once a minute or so where nothing happens to it.
 * So the pod gets an annotation that tells which versions are meant.
 * Source: https://kubernetes.io/docs/concepts/configuration/secret/#using-secrets-as-files-from-a-pod
 */
export class MountRefresher implements Mounts {
  readonly #kube: Kube;
  readonly #children: Children;

  constructor(kube: Kube, children: Children) {
    this.#kube = kube;
    this.#children = children;
  }

  async refresh(resource: StoredDatabaseService, key: string, signal: AbortSignal): Promise<void> {
    const { pods: stale, versions } = staleMounts(resource, this.#children.of(key));
    const annotations = { [secretsAnnotation]: JSON.stringify(versions) };
    for (const { name, namespace, uid } of stale) {
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid, annotations } };
      const { object } = await this.#kube.apply(body, { type: pods, fieldManager, force: true, signal });
      this.#children.upsert(object);
    }
  }
}
