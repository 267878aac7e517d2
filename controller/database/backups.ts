import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import {
  judgeBackup,
  lastSuccess,
  toldJob,
  type BackupJob,
  type BackupSeen,
  type BackupVerdict,
} from '../health/judge-backup.ts';
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
  { metadata, spec, status }: StoredDatabaseService,
  children: readonly Child[],
  memory: Memory,
  now: number,
  signal: AbortSignal,
): Promise<BackupVerdict> {
  const before = (memory.status ?? status)?.backup;
  const seen = { backup: spec?.backup ?? undefined, ...runsOf(metadata.name, children), before, now };
  const job = seen.backup && toldJob(seen);
  if (job === undefined) return judgeBackup({ ...seen, words: undefined });
  const about = `${job.uid} ${job.facts.outcome}`;
  if (memory.backupWords?.about !== about) {
    memory.backupWords = { about, words: await backupWords(kube, metadata.namespace, job, signal) };
  }
  return judgeBackup({ ...seen, words: memory.backupWords.words });
}

/** When the last good backup of a database ended, in milliseconds of the wall clock; undefined where there is none. */
export function lastBackup(database: string, children: readonly Child[]): number | undefined {
  return lastSuccess(runsOf(database, children));
}

function runsOf(database: string, children: readonly Child[]): Pick<BackupSeen, 'jobs' | 'cronJob'> {
  const { backup } = namesOf(database);
  const facts = children.find(({ kind, name }) => kind === 'CronJob' && name === backup)?.facts;
  return { cronJob: facts?.kind === 'CronJob' ? facts : undefined, jobs: jobsOf(children, backup) };
}

/** Those that were made from the CronJob, by its controller or by `kubectl create job --from`. */
function jobsOf(children: readonly Child[], cronJob: string): readonly BackupJob[] {
  return children.flatMap(({ name, uid, owner, facts }) =>
    facts.kind === 'Job' && owner?.kind === 'CronJob' && owner.name === cronJob ? [{ name, uid, facts }] : [],
  );
}
