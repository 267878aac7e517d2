import { apiVersion, kind, type StoredDatabaseService } from '../../constructs/api/resource.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { applyOrder, render } from '../../constructs/render.ts';
import { digest } from '../digest.ts';
import type { KubeObject, OwnerReference } from '../kube/index.ts';
import { statedCertificates } from './certificates.ts';
import { childKey } from './child.ts';
import { statedSecrets } from './credentials.ts';
import { document } from './document.ts';

/** An object as we apply it: what is rendered, and what only the cluster knows: the owner. */
export interface Stated {
  readonly key: string;
  readonly object: KubeObject;
  readonly hash: string;
}

/** Renders a database for delivery by apply, in the order of application. Pure. */
export function stateAll(resource: StoredDatabaseService): readonly Stated[] {
  return render(document(resource)).map((manifest) => state(manifest, resource));
}

/**
 * The same with the Secrets, as far as they are judged, and with what else the controller keeps, such as the history: they come before what mounts
 * or follows them. Pure.
 */
export function stateWithSecrets(resource: StoredDatabaseService, kept: readonly Manifest[] = []): readonly Stated[] {
  const manifests = [
    ...render(document(resource)),
    ...statedSecrets(resource),
    ...statedCertificates(resource),
    ...kept,
  ];
  return applyOrder(manifests).map((manifest) => state(manifest, resource));
}

/** Whether a database states an object of a key; of a spec that breaks the rules it is taken that it does. Pure. */
export function isStatedBy(resource: StoredDatabaseService | undefined, key: string): boolean {
  if (resource === undefined) return false;
  return validateResource(document(resource)).length > 0 || stateWithSecrets(resource).some((one) => one.key === key);
}

/** Adds the namespace and the owner. */
function state(manifest: Manifest, resource: StoredDatabaseService): Stated {
  const owners = isOwned(manifest, resource) ? { ownerReferences: [ownerOf(resource)] } : {};
  return stated({ ...manifest, metadata: { ...manifest.metadata, namespace: resource.metadata.namespace, ...owners } });
}

/** An object as it is applied, with what it is known by. */
export function stated(object: KubeObject): Stated {
  return { key: childKey(object), object, hash: digest(object) };
}

/** The claim of the backups is never owned, so that nothing but a person deletes it; Secrets stay with the data where the data stays. */
function isOwned({ kind }: Manifest, resource: StoredDatabaseService): boolean {
  if (kind === 'PersistentVolumeClaim') return false;
  return kind !== 'Secret' || resource.spec.storage.onDelete === 'Delete';
}

/** The reference by which an object goes with its database. */
export function ownerOf({ metadata }: StoredDatabaseService): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

/** What is rendered of what we state: whose an object is, no manifest in Git can say. */
export function withoutOwner(object: KubeObject): KubeObject {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
