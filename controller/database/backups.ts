import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { judgeBackup, toldJob, type BackupJob, type BackupVerdict } from '../health/judge-backup.ts';
import type { Kube } from '../kube/index.ts';
import { backupWords } from './backup-words.ts';
import type { Child } from './child.ts';
import type { Memory } from './memory.ts';

/**
 * Whether the last backup is a good one. Of a Job that failed or does not start, Kubernetes is asked why: once for each.
 *
 * @param now milliseconds of the wall clock
 * @throws KubeError of class `retry-now`
 */
export async function observedBackup(
  kube: Kube,
  { metadata, spec }: StoredDatabaseService,
  children: readonly Child[],
  memory: Memory,
  now: number,
  signal: AbortSignal,
): Promise<BackupVerdict> {
  const names = namesOf(metadata.name);
  const jobs = jobsOf(children, names.backup);
  const cronJob = children.find(({ kind, name }) => kind === 'CronJob' && name === names.backup)?.facts;
  const seen = {
    backup: spec?.backup ?? undefined,
    lastSuccess: cronJob?.kind === 'CronJob' ? cronJob.lastSuccess : undefined,
    jobs,
    now,
  };
  const job = seen.backup && toldJob(seen);
  if (job === undefined) return judgeBackup({ ...seen, words: undefined });
  const about = `${job.uid} ${job.facts.outcome}`;
  if (memory.backupWords?.about !== about) {
    memory.backupWords = { about, words: await backupWords(kube, metadata.namespace, job, signal) };
  }
  return judgeBackup({ ...seen, words: memory.backupWords.words });
}

/** Those that were made from the CronJob, by its controller or by `kubectl create job --from`. */
function jobsOf(children: readonly Child[], cronJob: string): readonly BackupJob[] {
  return children.flatMap(({ name, uid, owner, facts }) =>
    facts.kind === 'Job' && owner?.kind === 'CronJob' && owner.name === cronJob ? [{ name, uid, facts }] : [],
  );
}
