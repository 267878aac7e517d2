import { setTimeout as delay } from 'node:timers/promises';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { engines } from '../../../constructs/engine.ts';
import { databaseLabel, memberStatusAnnotation, patroniLabel, settingsAnnotation } from '../../../constructs/labels.ts';
import { namesOf } from '../../../constructs/names.ts';
import { document } from '../../../controller/database/document.ts';
import { pods, typeOf } from '../../../controller/database/kinds.ts';
import { connect, KubeClient, Reflector, type KubeObject } from '../../../controller/kube/index.ts';
import { ready } from '../../controller/database/played-members.ts';
import { benchDatabase } from '../database.ts';

/** What the parent may send. */
export interface TrafficRequest {
  /** Of annotations, as Patroni makes them each loop while there are writes; 0 for none. */
  readonly writesPerSecond: number;
}

/**
 * A program that plays kubelets, Patroni and stewards of pods that no node runs: each pod becomes ready, takes its role and streams. The StatefulSet
 * controller is the real one. Answers each message with how many writes of traffic there were so far.
 */
const [kubeconfig = '', namespace = ''] = process.argv.slice(2);
const workers = 4;
const configMaps = typeOf({ kind: 'ConfigMap' });
const connection = await connect({ kubeconfig });
const kube = new KubeClient(connection);
const stop = new AbortController();
const waiting: KubeObject[] = [];
const played: KubeObject[] = [];
let writesPerSecond = 0;
let written = 0;

const reflector = new Reflector({
  kube,
  type: pods,
  selection: { namespace, labelSelector: databaseLabel },
  handler: { onUpsert: (pod) => void (isNew(pod) && waiting.push(pod)), onDelete: () => undefined },
});

process.on('message', (request: TrafficRequest) => {
  ({ writesPerSecond } = request);
  process.send?.(written);
});
process.once('disconnect', () => stop.abort());
void traffic();
for (let i = 0; i < workers; i++) void play();
await reflector.start(stop.signal).catch(() => undefined);
await connection.close();

function isNew({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[memberStatusAnnotation] === undefined;
}

async function play(): Promise<void> {
  const known = new Set<string>();
  while (!stop.signal.aborted) {
    const pod = waiting.shift();
    if (pod === undefined) await delay(20);
    else if (!known.has(pod.metadata.uid ?? '')) {
      known.add(pod.metadata.uid ?? '');
      await start(pod);
      played.push(pod);
    }
  }
}

async function start({ metadata }: KubeObject): Promise<void> {
  await kube.patch(pods, metadata, {
    kind: 'strategic',
    body: { status: ready },
    subresource: 'status',
    fieldManager: 'kubelet',
  });
  const database = metadata.labels?.[databaseLabel] ?? '';
  const isPrimary = metadata.name === `${database}-0`;
  const resource = benchDatabase(namespace, database) as unknown as StoredDatabaseService;
  const digest = engines[resource.spec.engine].settingsDigest(document(resource));
  const labels = { 'plumbline.dev/role': isPrimary ? 'primary' : 'replica' };
  const annotations = {
    [settingsAnnotation]: JSON.stringify({ digest, refused: {}, restart: {} }),
    [memberStatusAnnotation]: statusOf(isPrimary, 0),
  };
  if (isPrimary) await makeRecords(database);
  await kube.patch(pods, metadata, {
    kind: 'merge',
    body: { metadata: { labels, annotations } },
    fieldManager: 'Patroni',
  });
}

/** Who holds the lock, and who is in step. */
async function makeRecords(database: string): Promise<void> {
  const { patroni, patroniLeader, patroniSync } = namesOf(database);
  for (const name of [patroniLeader, patroniSync]) {
    const metadata = { name, namespace, labels: { [patroniLabel]: patroni }, annotations: renewed() };
    const record = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await kube.create(record, { type: configMaps, fieldManager: 'Patroni' });
  }
}

function renewed(): Record<string, string> {
  return { renewTime: new Date().toISOString() };
}

function statusOf(isPrimary: boolean, location: number): string {
  const streams = isPrimary ? {} : { replication_state: 'streaming' };
  const role = isPrimary ? 'primary' : 'replica';
  return JSON.stringify({ state: 'running', role, xlog_location: location, timeline: 1, ...streams });
}

/** One member after the other says that it is further in the WAL, and the primary holds on to its lock. */
async function traffic(): Promise<void> {
  for (let n = 0; !stop.signal.aborted; n++) {
    const pod = played[n % played.length];
    if (writesPerSecond === 0 || pod === undefined) {
      await delay(100);
      continue;
    }
    const { metadata } = pod;
    const until = performance.now() + 1000 / writesPerSecond;
    const annotations = { [memberStatusAnnotation]: statusOf(metadata.name.endsWith('-0'), n + 1) };
    await kube.patch(pods, metadata, { kind: 'merge', body: { metadata: { annotations } }, fieldManager: 'Patroni' });
    if (metadata.name.endsWith('-0')) {
      const { patroniLeader } = namesOf(metadata.labels?.[databaseLabel] ?? '');
      const body = { metadata: { annotations: renewed() } };
      await kube.patch(
        configMaps,
        { namespace, name: patroniLeader },
        { kind: 'merge', body, fieldManager: 'Patroni' },
      );
    }
    written++;
    await delay(Math.max(0, until - performance.now()));
  }
}
