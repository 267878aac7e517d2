import { hash } from 'node:crypto';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { namesOf } from '../../constructs/names.ts';
import { render } from '../../constructs/render.ts';
import { databaseServices, secrets, statefulSets, typeOf } from '../../controller/database/kinds.ts';
import type { KubeObject, ObjectRef, ResourceType } from '../../controller/kube/index.ts';
import { exists } from './installation.ts';
import type { Report } from './report.ts';
import type { Target } from './target.ts';
import { waitFor } from './wait.ts';

const fieldManager = 'plumbline-quickstart';
/** A slow machine starts three servers one after the other. */
const startMs = 300_000;

/** Creates the DatabaseService and waits until every object exists. */
export async function createDatabase(
  target: Target,
  database: DatabaseServiceDocument,
  report: Report,
): Promise<{ objects: number; applyMs: number }> {
  const start = performance.now();
  await target.kube.apply(
    { ...database, metadata: { ...database.metadata } },
    { type: databaseServices, fieldManager, force: true },
  );
  await waitFor(
    'the controller has made every object',
    async () => {
      const status = await statusOf(target, database);
      return status?.phase === 'Provisioning' || status?.phase === 'Running' ? true : undefined;
    },
    target,
  );
  const applyMs = Math.round(performance.now() - start);
  const wanted = objectsOf(database);
  for (const { type, ref } of wanted) {
    if (!(await exists(target, type, ref))) throw new Error(`${type.kind} ${ref.name} was not made`);
  }
  report.done(`${wanted.length} objects exist ${applyMs} ms after the DatabaseService was applied`);
  return { objects: wanted.length, applyMs };
}

/** Waits until every member is ready: on a node, for without one they are never started. */
export async function untilRunning(target: Target, database: DatabaseServiceDocument, report: Report): Promise<void> {
  const start = performance.now();
  const primary = await waitFor(
    'the database is running',
    async () => {
      const status = await statusOf(target, database);
      return status?.phase === 'Running' ? status.primary : undefined;
    },
    { signal: target.signal, limitMs: startMs },
  );
  report.done(
    `${database.spec.replicas} members are ready after ${Math.round((performance.now() - start) / 1000)} s; ${primary} is the primary`,
  );
}

/** Deletes the DatabaseService, and creates it again: the Secrets stay with the data, so the passwords are the same. */
export async function deleteAndCreate(
  target: Target,
  database: DatabaseServiceDocument,
  report: Report,
): Promise<void> {
  const { name, namespace } = database.metadata;
  const secret = { namespace, name: namesOf(name).credentials };
  const before = await target.kube.get(secrets, secret);
  await target.kube.delete(databaseServices, { namespace, name });
  if (target.hasGarbageCollector) {
    const isGone = async () => ((await exists(target, statefulSets, { namespace, name })) ? undefined : true);
    await waitFor('its objects are gone', isGone, target);
    report.done('deleted: its objects are collected; Secrets and volume claims stay (storage.onDelete: Retain)');
  } else {
    report.done('deleted; without kube-controller-manager nobody collects its objects, so they stay, to be adopted');
  }
  await waitFor(
    'the DatabaseService is gone',
    async () => ((await exists(target, databaseServices, { namespace, name })) ? undefined : true),
    target,
  );
  await createDatabase(target, database, report);
  const after = await target.kube.get(secrets, secret);
  if (digest(before) !== digest(after))
    throw new Error(`Secret ${secret.name} was changed by a deletion and a creation`);
  report.done(`created again under the same name: Secret ${secret.name} is the same to the byte`);
}

/** The status as the controller wrote it. */
export async function statusOf(
  { kube }: Target,
  { metadata }: DatabaseServiceDocument,
): Promise<DatabaseServiceStatus | undefined> {
  const object = await kube.get(databaseServices, { namespace: metadata.namespace, name: metadata.name });
  return object['status'] as DatabaseServiceStatus | undefined;
}

function objectsOf(
  database: DatabaseServiceDocument,
): readonly { readonly type: ResourceType; readonly ref: ObjectRef }[] {
  const { namespace, name } = database.metadata;
  const rendered = render(database).map((manifest) => ({
    type: typeOf(manifest),
    ref: { namespace, name: manifest.metadata.name },
  }));
  const names = namesOf(name);
  const made = [names.credentials, names.system, names.tls, names.tlsAuthority].map((secret) => ({
    type: secrets,
    ref: { namespace, name: secret },
  }));
  return [...rendered, ...made];
}

function digest(secret: KubeObject): string {
  return hash('sha256', JSON.stringify(secret['data']));
}
