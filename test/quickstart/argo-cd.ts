import { parse } from 'yaml';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { typeOf } from '../../controller/database/kinds.ts';
import { deviations, readable } from '../../controller/drift/index.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import type { Report } from './report.ts';
import type { Target } from './target.ts';

/** The field manager of Argo CD with server-side apply. */
const argo = 'argocd-controller';
const plumbline = 'plumbline';

/** Applies the files of a checkout as Argo CD would: server-side, under its own name, with the namespace of its application. */
export async function applyAsArgo(
  { kube }: Target,
  files: ReadonlyMap<string, string>,
  namespace: string,
  report: Report,
): Promise<void> {
  for (const object of objectsIn(files, namespace))
    await kube.apply(object, { type: typeOf(object), fieldManager: argo, force: true });
  report.done(`${files.size} objects of the checkout are applied into the empty namespace ${namespace}, as ${argo}`);
}

/**
 * Where the cluster is not what the files say: each field that a delivery owns has the rendered value, and it owns no others.
 * @returns undefined when both deliveries are what was rendered
 */
export async function clusterDifference(
  target: Target,
  files: ReadonlyMap<string, string>,
  { metadata }: DatabaseServiceDocument,
  argoNamespace: string,
): Promise<string | undefined> {
  const deliveries = [
    { manager: plumbline, namespace: metadata.namespace ?? '' },
    { manager: argo, namespace: argoNamespace },
  ];
  for (const { manager, namespace } of deliveries) {
    for (const object of objectsIn(files, namespace)) {
      const live = await target.kube.get(typeOf(object), object.metadata);
      const [first] = deviations(object, live, manager).filter(({ path }) => path[1] !== 'f:ownerReferences');
      if (first !== undefined)
        return `${object.kind} ${object.metadata.name} ${readable(first.path)} is ${first.kind} for ${manager}`;
    }
  }
  return undefined;
}

function objectsIn(files: ReadonlyMap<string, string>, namespace: string): readonly KubeObject[] {
  return [...files.values()].map((text) => {
    const manifest = parse(text) as Manifest;
    return { ...manifest, ...inNamespace(manifest, namespace), metadata: { ...manifest.metadata, namespace } };
  });
}

/** As kustomize does: the subjects of a RoleBinding follow the namespace. */
function inNamespace({ subjects }: Manifest, namespace: string): object {
  if (!Array.isArray(subjects)) return {};
  return { subjects: subjects.map((subject: unknown) => ({ ...(subject as object), namespace })) };
}
