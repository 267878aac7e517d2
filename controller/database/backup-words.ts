import { factsOf } from '../health/facts.ts';
import { number, record, records, text } from '../health/fields.ts';
import type { BackupJob } from '../health/judge-backup.ts';
import { inWords, wordsOf } from '../health/symptom.ts';
import { classify, type Kube, type KubeObject, type ResourceType } from '../kube/index.ts';
import { events, pods } from './kinds.ts';

/** Such a text is part of a condition. */
const longestWords = 500;

/**
 * Why a Job has failed or waits, in the words of its pod, or of what Kubernetes says of the pod. Both are in no watch of ours, so they are asked
 * for.
 *
 * @returns undefined where there is none left, or it cannot be asked for
 * @throws KubeError of class `retry-now`
 */
export async function backupWords(
  kube: Kube,
  namespace: string,
  { name, facts }: BackupJob,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const ofJob = { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}`, signal };
    const found = await all(kube, pods, ofJob);
    const words = facts.outcome === 'failed' ? lastWords(found) : await whyWaiting(kube, namespace, found, signal);
    return words?.slice(0, longestWords);
  } catch (error) {
    signal.throwIfAborted();
    if (classify(error).class === 'retry-now') throw error;
    return undefined;
  }
}

/** Of the pod that ended last. */
function lastWords(found: readonly KubeObject[]): string | undefined {
  const said = found.flatMap(ends).toSorted((a, b) => b.at - a.at)[0]?.said ?? '';
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  // The script says it in one line; where it could not, this is the end of its log.
  return lines.find((line) => /error:/i.test(line)) ?? lines.at(-1);
}

/** How the containers of a pod ended that failed. */
function ends(pod: KubeObject): readonly { readonly at: number; readonly said: string }[] {
  return records(record(pod['status'])['containerStatuses'])
    .map((container) => record(record(container['state'])['terminated']))
    .filter((ended) => number(ended, 'exitCode') !== 0)
    .map((ended) => ({ at: Date.parse(text(ended, 'finishedAt') ?? ''), said: text(ended, 'message') ?? '' }));
}

/** A pod that cannot be scheduled or whose image cannot be had says so itself; a volume that cannot be mounted is told in an event only. */
async function whyWaiting(
  kube: Kube,
  namespace: string,
  [pod]: readonly KubeObject[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (pod === undefined) return undefined;
  const facts = factsOf(pod);
  if (facts.kind === 'Pod' && facts.trouble !== undefined) return facts.trouble;
  const fieldSelector = `involvedObject.uid=${pod.metadata.uid},type=Warning`;
  const told = await all(kube, events, { namespace, fieldSelector, signal });
  const last = told.toSorted((a, b) => at(b) - at(a))[0];
  if (last === undefined) return undefined;
  const words = inWords(wordsOf({ ...last }));
  const claims = claimsOf(pod);
  return claims.length === 0 ? words : `with PersistentVolumeClaim ${claims.join(', ')}: ${words}`;
}

/** Of a volume Kubernetes tells a name of its own. */
function claimsOf(pod: KubeObject): readonly string[] {
  return records(record(pod['spec'])['volumes']).flatMap(
    (volume) => text(record(volume['persistentVolumeClaim']), 'claimName') ?? [],
  );
}

function at(event: KubeObject): number {
  return Date.parse(text({ ...event }, 'lastTimestamp') ?? event.metadata.creationTimestamp ?? '') || 0;
}

async function all(
  kube: Kube,
  type: ResourceType,
  options: Parameters<Kube['list']>[1],
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for await (const { items } of kube.list(type, options)) found.push(...items);
  return found;
}
