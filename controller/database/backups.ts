import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { judgeBackup, lastEnded, type BackupJob } from '../health/judge-backup.ts';
import { number, record, records, text } from '../health/fields.ts';
import type { Verdict } from '../health/judge.ts';
import { classify, type Kube, type KubeObject } from '../kube/index.ts';
import type { Child } from './child.ts';
import { pods } from './kinds.ts';
import type { Memory } from './memory.ts';

/** Such a text is part of a condition. */
const longestWords = 500;

/**
 * Whether the last backup is a good one.
 *
 * The pods of backups bear no label that is watched, so the one of a failed Job is asked for what it said: once for each Job.
 *
 * @throws KubeError of class `retry-now`
 */
export async function observedBackup(
  kube: Kube,
  { metadata, spec }: StoredDatabaseService,
  children: readonly Child[],
  memory: Memory,
  signal: AbortSignal,
): Promise<Verdict> {
  const names = namesOf(metadata.name);
  const jobs = jobsOf(children, names.backup);
  const cronJob = children.find(({ kind, name }) => kind === 'CronJob' && name === names.backup)?.facts;
  const job = lastEnded(jobs);
  const isFailed = job?.facts.outcome === 'failed' && spec?.backup !== undefined;
  if (isFailed && memory.backupFailure?.uid !== job.uid) {
    memory.backupFailure = { uid: job.uid, words: await lastWords(kube, metadata.namespace, job.name, signal) };
  }
  return judgeBackup({
    backup: spec?.backup,
    lastSuccess: cronJob?.kind === 'CronJob' ? cronJob.lastSuccess : undefined,
    jobs,
    words: isFailed ? memory.backupFailure?.words : undefined,
  });
}

/** Those that were made from the CronJob, by its controller or by `kubectl create job --from`. */
function jobsOf(children: readonly Child[], cronJob: string): readonly BackupJob[] {
  return children.flatMap(({ name, uid, owner, facts }) =>
    facts.kind === 'Job' && owner?.kind === 'CronJob' && owner.name === cronJob ? [{ name, uid, facts }] : [],
  );
}

/** Of the pod that ended last. Undefined where there is none left, or it cannot be asked for. */
async function lastWords(kube: Kube, namespace: string, job: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found: KubeObject[] = [];
    const labelSelector = `batch.kubernetes.io/job-name=${job}`;
    for await (const { items } of kube.list(pods, { namespace, labelSelector, signal })) found.push(...items);
    const said = found.flatMap(ends).toSorted((a, b) => b.at - a.at)[0]?.said ?? '';
    const lines = said
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    // The script says it in one line; where it could not, this is the end of its log.
    return (lines.find((line) => /error:/i.test(line)) ?? lines.at(-1))?.slice(0, longestWords);
  } catch (error) {
    signal.throwIfAborted();
    if (classify(error).class === 'retry-now') throw error;
    return undefined;
  }
}

/** How the containers of a pod ended that failed. */
function ends(pod: KubeObject): readonly { readonly at: number; readonly said: string }[] {
  return records(record(pod['status'])['containerStatuses'])
    .map((container) => record(record(container['state'])['terminated']))
    .filter((ended) => number(ended, 'exitCode') !== 0)
    .map((ended) => ({ at: Date.parse(text(ended, 'finishedAt') ?? ''), said: text(ended, 'message') ?? '' }));
}
