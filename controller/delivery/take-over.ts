import { fieldManager } from '../database/child.ts';
import { typeOf } from '../database/kinds.ts';
import { handOver, type FieldPath } from '../drift/index.ts';
import { classify, type Kube, type KubeObject, type ManagedFieldsEntry } from '../kube/index.ts';

/** Field manager of what changes managedFields alone, and so comes to own nothing. */
const takeOverManager = 'plumbline-take-over';

/**
 * Makes fields of others ours, does what needs that, and gives them back if it fails. Each write holds only for the very version that was read.
 * Sources: https://kubernetes.io/docs/reference/using-api/server-side-apply/#transferring-ownership-between-managers and
 * https://github.com/kubernetes/kubernetes/issues/118725
 *
 * @throws KubeError: what the act throws, or of kind `version-conflict` where somebody else was faster
 */
export async function takingOver<T>(
  kube: Kube,
  live: KubeObject,
  paths: readonly FieldPath[],
  act: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const taken = await write(kube, live, handOver(live, fieldManager, paths), signal);
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    await write(kube, taken, live.metadata.managedFields ?? [], signal).catch((failure: unknown) => {
      // Somebody has written since: the fields stay ours, and go with the next apply.
      if (classify(failure).class !== 'retry-now') throw failure;
    });
    throw error;
  }
}

async function write(
  kube: Kube,
  live: KubeObject,
  managedFields: readonly ManagedFieldsEntry[],
  signal: AbortSignal,
): Promise<KubeObject> {
  const { name, namespace, resourceVersion } = live.metadata;
  const body = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  return kube.patch(
    typeOf(live),
    { name, namespace },
    { kind: 'json', body, fieldManager: takeOverManager },
    { signal },
  );
}
