import type { Kube, KubeObject, ObjectRef, ResourceType, Selection } from '../controller/kube/index.ts';

/**
 * Milliseconds from the moment when an act is done (its own answer has come) until a watch shows an object of which a check holds.
 *
 * @throws Error when that does not happen within half a minute
 */
export async function repairTime(
  kube: Kube,
  type: ResourceType,
  ref: ObjectRef,
  act: () => Promise<unknown>,
  isRepaired: (object: KubeObject, event: 'ADDED' | 'MODIFIED' | 'DELETED') => boolean,
): Promise<number> {
  const selection = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
  const stop = AbortSignal.timeout(30_000);
  const watch = kube.watch(type, {
    ...selection,
    resourceVersion: await latestVersion(kube, type, selection),
    timeoutSeconds: 60,
    signal: stop,
  });
  const seen = (async () => {
    let isChanged = false;
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      const holds = isRepaired(event.object, event.type);
      if (!holds) isChanged = true;
      if (holds && isChanged) return performance.now();
    }
    throw new Error('the watch ended');
  })();
  // A refused act is the error to tell, not the watch that then has nothing to show.
  seen.catch(() => undefined);
  await act();
  const done = performance.now();
  try {
    return Math.max(0, (await seen) - done);
  } catch (cause) {
    throw new Error(`${type.kind} ${ref.name} was not put back within 30 s`, { cause });
  } finally {
    await watch.return();
  }
}

/** Not the object's own, which may be older than what the API server still remembers. */
async function latestVersion(kube: Kube, type: ResourceType, selection: Selection): Promise<string> {
  for await (const { resourceVersion } of kube.list(type, selection)) return resourceVersion;
  throw new Error(`The list of ${type.plural} has no page.`);
}
