// Runs inside the node: makes a volume for each claim that waits for one, and removes it with the claim.
// usage: provisioner.ts <kubeconfig> <server> <folder> <capacity in MiB>
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Admin, type Answer } from '../admin.ts';
import { isWaiting, mebibytes, provisionerName, volumeFor, volumeName, type Claim } from './storage-class.ts';

const [kubeconfig = '', server = '', folder = '', capacity = '0'] = process.argv.slice(2);
const admin = new Admin(kubeconfig);
const pollMs = 250;
const script = fileURLToPath(new URL('volume.sh', import.meta.url));

/** The size of each volume that exists, by its name. */
const volumes = new Map<string, number>();
const refused = new Set<string>();

for (;;) {
  try {
    await reconcile();
  } catch (error) {
    // The API server may be down for a while, as part of a test.
    console.error(new Date().toISOString(), error);
  }
  await delay(pollMs);
}

async function reconcile(): Promise<void> {
  const claims = await get<{ items: Claim[] }>('/api/v1/persistentvolumeclaims');
  const wanted = new Set(claims.items.map(volumeName));
  for (const name of volumes.keys()) if (!wanted.has(name)) await remove(name);
  for (const claim of claims.items) if (isWaiting(claim)) await provide(claim);
}

async function provide(claim: Claim): Promise<void> {
  const name = volumeName(claim);
  const size = mebibytes(claim.spec.resources.requests.storage);
  const left = Number(capacity) - [...volumes.values()].reduce((sum, one) => sum + one, 0);
  if (!volumes.has(name)) {
    if (size > left) return refuse(claim, `${size} MiB are asked for, and the node has ${left} MiB left for volumes.`);
    run('create', join(folder, name), String(size));
    volumes.set(name, size);
  }
  const { reclaimPolicy } = await get<{ reclaimPolicy: string }>(
    `/apis/storage.k8s.io/v1/storageclasses/${claim.spec.storageClassName}`,
  );
  const volume = volumeFor(claim, join(folder, name), reclaimPolicy);
  expect(await admin.send('POST', `${server}/api/v1/persistentvolumes`, volume), [201, 409]);
}

async function remove(name: string): Promise<void> {
  const url = `${server}/api/v1/persistentvolumes/${name}`;
  const answer = expect(await admin.send('GET', url), [200, 404]);
  if (answer.status === 200) {
    const volume = JSON.parse(answer.body) as { spec: { persistentVolumeReclaimPolicy: string } };
    if (volume.spec.persistentVolumeReclaimPolicy !== 'Delete') return;
    expect(await admin.send('DELETE', url), [200, 202, 404]);
  }
  run('remove', join(folder, name));
  volumes.delete(name);
}

/** Says once why a claim gets no volume; it gets one as soon as there is room. */
async function refuse(claim: Claim, message: string): Promise<void> {
  const { name, namespace, uid } = claim.metadata;
  if (refused.has(uid)) return;
  refused.add(uid);
  const now = new Date().toISOString();
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, generateName: `${name}-` },
    involvedObject: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
    type: 'Warning',
    reason: 'ProvisioningFailed',
    message,
    source: { component: provisionerName },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  expect(await admin.send('POST', `${server}/api/v1/namespaces/${namespace}/events`, event), [201]);
}

async function get<T>(path: string): Promise<T> {
  return JSON.parse(expect(await admin.send('GET', `${server}${path}`), [200]).body) as T;
}

function expect(answer: Answer, statuses: readonly number[]): Answer {
  if (!statuses.includes(answer.status)) throw new Error(`The API server answered ${answer.status} ${answer.body}`);
  return answer;
}

function run(...args: readonly string[]): void {
  const { status, error, stderr } = spawnSync('/bin/sh', [script, ...args], { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`volume.sh ${args.join(' ')} failed: ${error?.message ?? stderr}`, { cause: error });
}
