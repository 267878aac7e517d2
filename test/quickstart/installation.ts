import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { classify, type KubeObject, type ObjectRef, type ResourceType } from '../../controller/kube/index.ts';
import { claims, databaseServices, pods, statefulSets } from '../../controller/database/kinds.ts';
import type { Report } from './report.ts';
import type { Started } from './started.ts';
import type { Target } from './target.ts';
import { waitFor } from './wait.ts';

const crds: ResourceType = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const crdFile = new URL('../../crds/plumbline.dev_databaseservices.yaml', import.meta.url);
const fieldManager = 'plumbline-quickstart';
const ownLabel = 'plumbline.dev/quickstart';

/**
 * Installs the CRD as `kubectl apply --server-side -f crds/` does, and makes empty namespaces. Leftovers of an earlier run are removed first. What is
 * to be taken away again from a cluster of somebody's is told before anything is written there.
 */
export async function install(
  target: Target,
  names: readonly string[],
  started: Started,
  report: Report,
): Promise<void> {
  const { kube, signal } = target;
  const crd = parse(readFileSync(crdFile, 'utf8')) as KubeObject;
  for (const name of names) await findNamespace(target, name);
  // Somebody's own CRD stays as it is: it may be of another version, with databases that rely on it.
  const isOurs = await mayApply(target, crd.metadata);
  if (target.isForeign) started.add(leftIn(target, names, isOurs ? crd.metadata : undefined, report));
  await removeNamespaces(target, names);
  if (isOurs) await kube.apply(crd, { type: crds, fieldManager });
  await waitFor('the CRD is served', () => served(target), { signal });
  for (const name of names) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [ownLabel]: 'true' } } };
    await kube.apply(object, { type: namespaces, fieldManager, force: true });
  }
  report.done(
    `CRD ${crd.metadata.name} is ${!isOurs && target.isForeign ? 'there already, and used as it is' : 'installed'}`,
  );
}

/** What the quickstart leaves in a cluster of somebody's, the CRD only where it is of the quickstart. */
function leftIn(target: Target, names: readonly string[], crd: ObjectRef | undefined, report: Report) {
  const { kubectl } = target;
  return {
    look: [],
    stop: [
      // They wait for a controller to remove their files from Git, and there is none any more.
      ...names.map(
        (name) =>
          `${kubectl} -n ${name} get databaseservices -o name | xargs -rI% ${kubectl} -n ${name} patch % --type=merge -p '{"metadata":{"finalizers":null}}'`,
      ),
      `${kubectl} delete namespace ${names.join(' ')}`,
      ...(crd === undefined ? [] : [`${kubectl} delete crd ${crd.name}`]),
    ],
    end: async () => {
      await removeNamespaces(target, names);
      if (crd !== undefined) await removeCrd(target, crd, report);
    },
  };
}

/** Whether a CRD is missing, or left by a run that was killed; one that is just going away is waited for. */
async function mayApply(target: Target, ref: ObjectRef): Promise<boolean> {
  return waitFor(
    `CRD ${ref.name} is deleted`,
    async () => {
      const found = await find(target, crds, ref);
      if (found === undefined) return true;
      return found.metadata.deletionTimestamp === undefined ? isOfQuickstart(found) : undefined;
    },
    target,
  );
}

/** Nobody else has applied or edited it. */
function isOfQuickstart({ metadata }: KubeObject): boolean {
  const managers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource !== 'status');
  return managers.length > 0 && managers.every(({ manager }) => manager === fieldManager);
}

/** With a CRD the databases of its kind go: it stays where somebody has made it theirs, or has a database. */
async function removeCrd(target: Target, ref: ObjectRef, report: Report): Promise<void> {
  const found = await find(target, crds, ref);
  if (found === undefined) return;
  const { uid = '', resourceVersion = '' } = found.metadata;
  if (!isOfQuickstart(found)) return report.fact(`CRD ${ref.name} stays: somebody else has applied it meanwhile`);
  const [one] = (await served(target)) ?? [];
  if (one !== undefined) {
    const { namespace, name } = one.metadata;
    return report.fact(`CRD ${ref.name} stays: somebody has made DatabaseService ${namespace}/${name}`);
  }
  await target.kube.delete(crds, ref, { uid, resourceVersion });
  await waitFor(`CRD ${ref.name} is gone`, async () => ((await exists(target, crds, ref)) ? undefined : true));
}

/** @throws Error when it is somebody else's */
async function findNamespace(target: Target, name: string): Promise<KubeObject | undefined> {
  const found = await find(target, namespaces, { name });
  if (found !== undefined && found.metadata.labels?.[ownLabel] !== 'true') {
    throw new Error(`Namespace ${name} exists and is not of the quickstart: rename or remove it.`);
  }
  return found;
}

async function removeNamespaces(target: Target, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => removeNamespace(target, name)));
}

async function removeNamespace(target: Target, name: string): Promise<void> {
  const found = await findNamespace(target, name);
  if (found === undefined) return;
  await releaseDatabases(target, name);
  await removeMembers(target, name);
  await target.kube.delete(namespaces, { name }, { uid: found.metadata.uid ?? '' });
  await waitFor(`namespace ${name} is gone`, async () =>
    (await exists(target, namespaces, { name })) ? undefined : true,
  );
}

/** No controller is there to remove their files from Git, for which they would wait. */
async function releaseDatabases(target: Target, namespace: string): Promise<void> {
  const { kube } = target;
  for (const { metadata } of (await served(target)) ?? []) {
    if (metadata.namespace !== namespace || (metadata.finalizers ?? []).length === 0) continue;
    const body = { metadata: { uid: metadata.uid, finalizers: null } };
    await kube.patch(databaseServices, metadata, { kind: 'merge', body, fieldManager });
  }
}

/**
 * Kubernetes, which meets members and their claims while it empties a namespace, comes back to them only many seconds later: so they go first.
 */
async function removeMembers(target: Target, namespace: string): Promise<void> {
  await removeAll(target, statefulSets, namespace);
  await untilGone(target, pods, namespace);
  await removeAll(target, claims, namespace);
  await untilGone(target, claims, namespace);
}

async function removeAll({ kube }: Target, type: ResourceType, namespace: string): Promise<void> {
  for await (const { items } of kube.list(type, { namespace, metadataOnly: true })) {
    for (const { metadata } of items) await kube.delete(type, metadata, { uid: metadata.uid ?? '' });
  }
}

async function untilGone({ kube }: Target, type: ResourceType, namespace: string): Promise<void> {
  await waitFor(`each ${type.kind} in namespace ${namespace} is gone`, async () => {
    for await (const { items } of kube.list(type, { namespace, metadataOnly: true })) {
      return items.length === 0 ? true : undefined;
    }
    return true;
  });
}

/** The first DatabaseServices of the cluster; undefined when it does not know that kind. */
async function served({ kube }: Target): Promise<readonly KubeObject[] | undefined> {
  try {
    for await (const { items } of kube.list(databaseServices)) return items;
    return [];
  } catch (error) {
    if (classify(error).kind === 'kind-missing') return undefined;
    throw error;
  }
}

/** Whether an object exists. */
export async function exists(target: Target, type: ResourceType, ref: ObjectRef): Promise<boolean> {
  return (await find(target, type, ref)) !== undefined;
}

/** Its metadata alone. */
async function find({ kube }: Target, type: ResourceType, ref: ObjectRef): Promise<KubeObject | undefined> {
  try {
    return await kube.get(type, ref, { metadataOnly: true });
  } catch (error) {
    if (classify(error).kind === 'object-missing') return undefined;
    throw error;
  }
}
