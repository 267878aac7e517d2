import { setTimeout as delay } from 'node:timers/promises';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { engines } from '../../../constructs/engine.ts';
import { databaseLabel, memberStatusAnnotation, patroniLabel, settingsAnnotation } from '../../../constructs/labels.ts';
import { namesOf } from '../../../constructs/names.ts';
import { document } from '../../../controller/database/document.ts';
import { pods, typeOf } from '../../../controller/database/kinds.ts';
import { connect, KubeClient, Reflector, type KubeObject, type ObjectMeta } from '../../../controller/kube/index.ts';
import { ready } from '../../controller/database/played-members.ts';
import { benchDatabase } from '../database.ts';
import { floorLabel } from './floor.ts';

/** What the parent may send. */
export interface MembersRequest {
  /** Of annotations, as Patroni makes them each loop while there are writes; 0 for none. */
  readonly writesPerSecond: number;
}

/** What each is answered with: how much there was so far. */
export interface MembersReport {
  /** Writes of annotations. */
  readonly written: number;
  /** Members of the plain loop that run. */
  readonly ofFloor: number;
}

/**
 * A program that plays kubelets, Patroni and stewards of pods that no node runs: each pod becomes ready, takes its role and streams. The StatefulSet
 * controller is the real one.
 */
const [kubeconfig = ''] = process.argv.slice(2);
const workers = 4;
const configMaps = typeOf({ kind: 'ConfigMap' });
const connection = await connect({ kubeconfig });
const kube = new KubeClient(connection);
const stop = new AbortController();
const known = new Set<string>();
const waiting: ObjectMeta[] = [];
const running: ObjectMeta[] = [];
let busy = 0;
let ofFloor = 0;
let written = 0;
let writesPerSecond = 0;

const watches = [databaseLabel, floorLabel].map((labelSelector) =>
  new Reflector({
    kube,
    type: pods,
    selection: { labelSelector, metadataOnly: true },
    handler: { onUpsert: see, onDelete: () => undefined },
  }).start(stop.signal),
);

process.on('message', (request: MembersRequest) => {
  ({ writesPerSecond } = request);
  process.send?.({ written, ofFloor } satisfies MembersReport);
});
process.once('disconnect', () => stop.abort());
void traffic();
await Promise.allSettled(watches);
await connection.close();

function see({ metadata }: KubeObject): void {
  const { uid = '', name, namespace = '', labels = {} } = metadata;
  if (known.has(uid)) return;
  known.add(uid);
  waiting.push({ name, namespace, labels });
  if (busy < workers) void play();
}

async function play(): Promise<void> {
  busy++;
  for (let pod = waiting.shift(); pod !== undefined && !stop.signal.aborted; pod = waiting.shift()) {
    await start(pod);
    if (pod.labels?.[floorLabel] === undefined) running.push(pod);
    else ofFloor++;
  }
  busy--;
}

async function start(pod: ObjectMeta): Promise<void> {
  await kube.patch(pods, pod, {
    kind: 'strategic',
    body: { status: ready },
    subresource: 'status',
    fieldManager: 'kubelet',
  });
  const { namespace = '', name } = pod;
  const database = databaseOf(pod);
  const isPrimary = name === `${database}-0`;
  const resource = benchDatabase(namespace, database) as unknown as StoredDatabaseService;
  const digest = engines[resource.spec.engine].settingsDigest(document(resource));
  const labels = { 'plumbline.dev/role': isPrimary ? 'primary' : 'replica' };
  const annotations = {
    [settingsAnnotation]: JSON.stringify({ digest, refused: {}, restart: {} }),
    [memberStatusAnnotation]: statusOf(isPrimary, 0),
  };
  if (isPrimary) await makeRecords(namespace, database);
  await kube.patch(pods, pod, {
    kind: 'merge',
    body: { metadata: { labels, annotations } },
    fieldManager: 'Patroni',
  });
}

function databaseOf({ labels = {} }: ObjectMeta): string {
  return labels[databaseLabel] ?? labels[floorLabel] ?? '';
}

/** Who holds the lock, and who is in step. */
async function makeRecords(namespace: string, database: string): Promise<void> {
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
    const pod = running[n % running.length];
    if (writesPerSecond === 0 || pod === undefined) {
      await delay(100);
      continue;
    }
    const { name, namespace = '' } = pod;
    const database = databaseOf(pod);
    const isPrimary = name === `${database}-0`;
    const until = performance.now() + 1000 / writesPerSecond;
    const annotations = { [memberStatusAnnotation]: statusOf(isPrimary, n + 1) };
    await kube.patch(pods, pod, { kind: 'merge', body: { metadata: { annotations } }, fieldManager: 'Patroni' });
    if (isPrimary) {
      const leader = { namespace, name: namesOf(database).patroniLeader };
      const body = { metadata: { annotations: renewed() } };
      await kube.patch(configMaps, leader, { kind: 'merge', body, fieldManager: 'Patroni' });
    }
    written++;
    await delay(Math.max(0, until - performance.now()));
  }
}
