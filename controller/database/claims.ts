import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseLabel } from '../../constructs/labels.ts';
import { claimName, ordinals } from '../../constructs/names.ts';
import type { Child } from './child.ts';
import { wantedMembers } from './observed-members.ts';
import { ownerOf, stated, type Stated } from './stated.ts';

/**
 * What we state of the data claims, which the StatefulSet controller makes: their owner alone. With `storage.onDelete: Delete` the claims of members
 * go with the DatabaseService; when that becomes Retain, the owner is taken away again. Nothing is stated of claims that are to stay as they are.
 */
export function stateClaims(resource: StoredDatabaseService, children: readonly Child[]): readonly Stated[] {
  const { name, namespace, uid } = resource.metadata;
  const isTakenAway = takenAway(resource, wantedMembers(children, name));
  const isDelete = resource.spec.storage.onDelete === 'Delete';
  return children
    .filter((child) => ordinalOf(child, name) !== undefined && !isTakenAway(child))
    .filter(({ owner }) => isDelete || owner?.uid === uid)
    .map((claim) => {
      const owners = isDelete ? { ownerReferences: [ownerOf(resource)] } : {};
      const metadata = { name: claim.name, namespace, labels: { [databaseLabel]: name }, ...owners };
      return stated({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
    });
}

/**
 * Tells whether a claim is of a member that the spec took away, and is to go with it: not while the StatefulSet asks for that member all the same.
 *
 * @param asked members that the StatefulSet asks for
 */
export function takenAway(
  { metadata, spec }: StoredDatabaseService,
  asked: number,
): (child: Pick<Child, 'kind' | 'name'>) => boolean {
  const members = Math.max(spec.replicas, asked);
  return (child) => {
    const ordinal = ordinalOf(child, metadata.name);
    return ordinal !== undefined && ordinal >= members && spec.storage.onDelete === 'Delete';
  };
}

/** Of a data claim, the number of its member; undefined for anything else. */
function ordinalOf({ kind, name }: Pick<Child, 'kind' | 'name'>, database: string): number | undefined {
  if (kind !== 'PersistentVolumeClaim') return undefined;
  return ordinals.find((ordinal) => claimName(database, ordinal) === name);
}
