import {
  apiVersion,
  kind,
  type DatabaseServiceDocument,
  type StoredDatabaseService,
} from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { render } from '../../constructs/render.ts';
import type { KubeObject, OwnerReference } from '../kube/index.ts';
import { childKey, digest } from './child.ts';

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

/** What of a Secret is judged and repaired: its labels and its owner, never its data. */
export function stateSecret({ apiVersion, kind, metadata }: Manifest, resource: StoredDatabaseService): Stated {
  return state({ apiVersion, kind, metadata }, resource);
}

/** Adds the namespace and the owner. */
export function state(manifest: Manifest, resource: StoredDatabaseService): Stated {
  const owners = isOwned(manifest, resource) ? { ownerReferences: [ownerOf(resource)] } : {};
  const metadata = { ...manifest.metadata, namespace: resource.metadata.namespace, ...owners };
  const object = { ...manifest, metadata };
  return { key: childKey(object), object, hash: digest(object) };
}

/** Claims are never owned, so that nothing but a person deletes a backup; Secrets stay with the data where the data stays. */
function isOwned({ kind }: Manifest, resource: StoredDatabaseService): boolean {
  if (kind === 'PersistentVolumeClaim') return false;
  return kind !== 'Secret' || resource.spec.storage.onDelete === 'Delete';
}

function ownerOf({ metadata }: StoredDatabaseService): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

/** The object as a user wrote it, without what the API server added. */
export function document({ metadata, spec }: StoredDatabaseService): DatabaseServiceDocument {
  return { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace }, spec };
}
