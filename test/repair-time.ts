import type { Kube, KubeObject, ObjectRef, ResourceType, Selection } from '../controller/kube/index.ts';
import { patienceMs } from './patience.ts';

/** Moments in milliseconds, by one clock. */
export interface RepairMoments {
  /** The answer to the act has come. */
  readonly answered: number;
  /** A watch has shown the object as the act left it. */
  readonly changed: number;
  /** It has shown the object as it was. */
  readonly repaired: number;
}

/**
 * Milliseconds that a repair has taken: from the answer to the act, or, where it came before that answer, from when the act was seen.
 *
 * The API server answers to a deletion after it has told the watches, so the repair may be seen first.
 */
export function repairMs({ answered, changed, repaired }: RepairMoments): number {
  return repaired - (repaired < answered ? changed : answered);
}

/**
 * Acts, and waits until a watch shows an object of which a check holds again.
 *
 * @param signal ends the waiting
 * @returns see `repairMs`
 * @throws the signal's reason, or an Error when it is not repaired in time
 */
export async function repairTime(
  kube: Kube,
  type: ResourceType,
  ref: ObjectRef,
  act: () => Promise<unknown>,
  isRepaired: (object: KubeObject, event: 'ADDED' | 'MODIFIED' | 'DELETED') => boolean,
  signal?: AbortSignal,
): Promise<number> {
  const selection = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
  const stop = AbortSignal.any([AbortSignal.timeout(patienceMs), ...(signal ? [signal] : [])]);
  const watch = kube.watch(type, {
    ...selection,
    resourceVersion: await latestVersion(kube, type, selection),
    timeoutSeconds: patienceMs / 1000,
    signal: stop,
  });
  const seen = (async () => {
    let changed: number | undefined;
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      const holds = isRepaired(event.object, event.type);
      if (!holds) changed ??= performance.now();
      if (holds && changed !== undefined) return { changed, repaired: performance.now() };
    }
    throw new Error('the watch ended');
  })();
  // A refused act is the error to tell, not the watch that then has nothing to show.
  seen.catch(() => undefined);
  await act();
  const answered = performance.now();
  try {
    return repairMs({ answered, ...(await seen) });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(`${type.kind} ${ref.name} was not put back within ${patienceMs / 1000} s`, { cause });
  } finally {
    await watch.return();
  }
}

/** Not the object's own, which may be older than what the API server still remembers. */
async function latestVersion(kube: Kube, type: ResourceType, selection: Selection): Promise<string> {
  for await (const { resourceVersion } of kube.list(type, selection)) return resourceVersion;
  throw new Error(`The list of ${type.plural} has no page.`);
}
