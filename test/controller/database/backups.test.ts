import assert from 'node:assert/strict';
import test from 'node:test';
import { observedBackup } from '../../../controller/database/backups.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import type { Verdict } from '../../../controller/health/judge.ts';
import { KubeError, type Kube, type KubeObject, type OwnerReference } from '../../../controller/kube/index.ts';
import { resource, seen } from './given.ts';

const database = resource({ backup: { schedule: '@daily', volume: { size: '1Gi' } } });
const noon = Date.parse('2026-01-01T12:00:00Z');
const labels = { 'plumbline.dev/database': 'orders' };
const failed = {
  type: 'Failed',
  status: 'True',
  reason: 'BackoffLimitExceeded',
  lastTransitionTime: '2026-01-01T12:00:00Z',
};

/** Verdicts on a database whose one Job has failed; its pods ended one after the other with these last words. */
class Given {
  readonly memory = newMemory('uid');
  lists = 0;
  error: Error | undefined;
  owner: OwnerReference = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    name: 'orders-backup',
    uid: 'c',
    controller: true,
  };
  readonly #words: readonly string[];

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  verdict(): Promise<Verdict> {
    const metadata = { name: 'orders-backup-1', namespace: 'shop', uid: 'job', labels, ownerReferences: [this.owner] };
    const job = seen({ apiVersion: 'batch/v1', kind: 'Job', metadata, status: { conditions: [failed] } });
    const list = async function* (
      this: Given,
    ): AsyncGenerator<{ items: readonly KubeObject[]; resourceVersion: string }> {
      this.lists++;
      if (this.error !== undefined) throw this.error;
      yield { items: this.#words.map(podWith), resourceVersion: '1' };
    }.bind(this);
    const kube = { list } as unknown as Kube;
    return observedBackup(kube, database, [job], this.memory, noon, new AbortController().signal).then(
      ({ verdict }) => verdict,
    );
  }
}

function podWith(message: string, index: number): KubeObject {
  const terminated = { exitCode: 1, finishedAt: `2026-01-01T12:00:0${index}Z`, message };
  const status = { containerStatuses: [{ state: { terminated } }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${index}`, namespace: 'shop' }, status };
}

for (const [what, words, says] of [
  ['one line', ['pg_dump: error: it is full\n'], 'BackoffLimitExceeded: pg_dump: error: it is full.'],
  ['two pods: the later one', ['pg_dump: error: a', 'pg_dump: error: b'], ': pg_dump: error: b.'],
  ['the end of a log: its first error', ['x\npg_dump: error: a\npg_dump: detail: q\nselect'], ': pg_dump: error: a.'],
  ['the end of a log without one: its last line', ['mkdir: no room\n\n'], ': mkdir: no room.'],
  ['no pod', [], 'Job orders-backup-1 failed: BackoffLimitExceeded.'],
] as const) {
  test(`what a failed backup is told by: ${what}`, async () => {
    const { message } = await new Given(words).verdict();
    assert.ok(message.includes(says), message);
  });
}

test('the pods of a failed backup are asked for once', async () => {
  const given = new Given(['pg_dump: error: it is full']);
  const first = await given.verdict();
  assert.deepEqual([await given.verdict(), given.lists], [first, 1]);
});

test('a backup that failed is told also where its pods cannot be asked for', async () => {
  const given = new Given([]);
  given.error = new KubeError({ tried: { verb: 'list', kind: 'Pod', object: 'shop' }, message: 'no', status: 403 });
  assert.equal((await given.verdict()).reason, 'BackupFailed');
});

// paperclipinc/openclaw-operator#286
test('a backup whose volume is attached elsewhere is told with the claim, in the words of Kubernetes', async () => {
  // GIVEN a Job whose pod waits, and what was said of that
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', namespace: 'shop', uid: 'pod' },
    spec: { volumes: [{ name: 'backup', persistentVolumeClaim: { claimName: 'orders-backup' } }, { name: 'tmp' }] },
    status: { containerStatuses: [{ name: 'backup', state: { waiting: { reason: 'ContainerCreating' } } }] },
  };
  const event = (reason: string, message: string, lastTimestamp: string): KubeObject => {
    return { apiVersion: 'v1', kind: 'Event', metadata: { name: reason }, reason, message, lastTimestamp };
  };
  const said = [
    event('FailedScheduling', 'no room yet', '2026-01-01T11:00:00Z'),
    event('FailedAttachVolume', 'Multi-Attach error for volume "pvc-1"', '2026-01-01T11:00:01Z'),
  ];
  const list = async function* ({ kind }: { readonly kind: string }) {
    yield { items: kind === 'Pod' ? [pod] : said, resourceVersion: '1' };
  };
  const controller = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'orders-backup', uid: 'c', controller: true };
  const metadata = { name: 'orders-backup-1', namespace: 'shop', uid: 'job', labels, ownerReferences: [controller] };
  const status = { active: 1, startTime: '2026-01-01T11:00:00Z' };
  const job = seen({ apiVersion: 'batch/v1', kind: 'Job', metadata, status });

  // WHEN it has waited for an hour
  const kube = { list } as unknown as Kube;
  const { signal } = new AbortController();
  const { verdict } = await observedBackup(kube, database, [job], newMemory('uid'), noon, signal);

  // THEN
  assert.equal(verdict.reason, 'BackupStuck');
  const words = 'with PersistentVolumeClaim orders-backup: FailedAttachVolume: Multi-Attach error for volume "pvc-1".';
  assert.ok(verdict.message.includes(`to start: ${words}`), verdict.message);
});

test('a Job that only bears the label is no backup', async () => {
  const given = new Given(['error: it is not ours']);
  given.owner = { ...given.owner, name: 'mine' };
  assert.deepEqual([(await given.verdict()).reason, given.lists], ['NoBackupYet', 0]);
});
