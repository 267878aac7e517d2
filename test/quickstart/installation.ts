import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { classify, type KubeObject, type ObjectRef, type ResourceType } from '../../controller/kube/index.ts';
import { databaseServices } from '../../controller/database/kinds.ts';
import type { Report } from './report.ts';
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

/** What the quickstart has to take away again from a cluster that is not its own. */
export interface Installation {
  remove(): Promise<void>;
}

/** Installs the CRD as `kubectl apply --server-side -f crds/` does, and makes empty namespaces. Leftovers of an earlier run are removed first. */
export async function install(target: Target, names: readonly string[], report: Report): Promise<Installation> {
  const { kube } = target;
  const crd = parse(readFileSync(crdFile, 'utf8')) as KubeObject;
  const wasThere = await exists(target, crds, crd.metadata);
  for (const name of names) await removeNamespace(target, name);
  // Somebody's own CRD stays as it is: it may be of another version, with databases that rely on it.
  if (!wasThere) await kube.apply(crd, { type: crds, fieldManager });
  await waitFor('the CRD is served', () => list(target));
  for (const name of names) {
    const object = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: { 'plumbline.dev/quickstart': 'true' } },
    };
    await kube.apply(object, { type: namespaces, fieldManager, force: true });
  }
  report.done(
    `CRD databaseservices.plumbline.dev is ${wasThere && target.isForeign ? 'there already, and used as it is' : 'installed'}`,
  );
  return {
    remove: async () => {
      for (const name of names) await removeNamespace(target, name);
      if (!wasThere) await kube.delete(crds, crd.metadata);
    },
  };
}

async function removeNamespace(target: Target, name: string): Promise<void> {
  if (!(await exists(target, namespaces, { name }))) return;
  const { metadata } = await target.kube.get(namespaces, { name });
  if (metadata.labels?.['plumbline.dev/quickstart'] !== 'true') {
    throw new Error(`Namespace ${name} exists and is not of the quickstart: rename or remove it.`);
  }
  await target.kube.delete(namespaces, { name });
  await waitFor(`namespace ${name} is gone`, async () =>
    (await exists(target, namespaces, { name })) ? undefined : true,
  );
}

async function list({ kube }: Target): Promise<true | undefined> {
  try {
    for await (const _ of kube.list(databaseServices)) break;
    return true;
  } catch (error) {
    if (classify(error).kind === 'kind-missing') return undefined;
    throw error;
  }
}

/** Whether an object exists. */
export async function exists({ kube }: Target, type: ResourceType, ref: ObjectRef): Promise<boolean> {
  try {
    await kube.get(type, ref, { metadataOnly: true });
    return true;
  } catch (error) {
    if (classify(error).kind === 'object-missing') return false;
    throw error;
  }
}
