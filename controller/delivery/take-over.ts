import { isDeepStrictEqual } from 'node:util';
import { fieldManager } from '../database/child.ts';
import { typeOf } from '../database/kinds.ts';
import { handOver, type FieldPath, type FieldTree } from '../drift/index.ts';
import { classify, type Kube, type KubeObject, type ManagedFieldsEntry } from '../kube/index.ts';

/** Field manager of what changes managedFields alone, and so comes to own nothing. */
const takeOverManager = 'plumbline-take-over';

/** What becomes ours. */
export interface TakenOver {
  /** Whoever has it. */
  readonly taken: readonly FieldPath[];
  /** As far as old hands have it. */
  readonly inherited: FieldTree | undefined;
}

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
  { taken: paths, inherited }: TakenOver,
  act: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const before = live.metadata.managedFields ?? [];
  const entries = handOver(live, fieldManager, paths, inherited);
  if (isDeepStrictEqual(entries, before)) return act();
  const taken = await writeManagedFields(kube, live, entries, signal);
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    await writeManagedFields(kube, taken, before, signal).catch((failure: unknown) => {
      // Somebody has written since: the fields stay ours, and go with the next apply.
      if (classify(failure).class !== 'retry-now') throw failure;
    });
    throw error;
  }
}

/** Writes who owns what, for the very version that was read. @throws KubeError: of kind `version-conflict` where somebody else was faster */
export async function writeManagedFields(
  kube: Kube,
  live: KubeObject,
  managedFields: readonly ManagedFieldsEntry[],
  signal: AbortSignal,
): Promise<KubeObject> {
  const { name, namespace, resourceVersion } = live.metadata;
  const body = [
    { op: 'add', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  return kube.patch(
    typeOf(live),
    { name, namespace },
    { kind: 'json', body, fieldManager: takeOverManager },
    { signal },
  );
}
