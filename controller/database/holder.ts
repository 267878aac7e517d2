import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { keyOfChild, type Child } from './child.ts';

/**
 * Who holds the name of an object, in words; undefined when it is this database, or nobody who would mind. What bears our label and has no owner
 * was ours (an owner can be lost in a backup), or was made for us by a GitOps tool; what was made by us, has no owner and bears no label or that of
 * a database which does not state it, has lost its label.
 *
 * @param states whether there is a database of a `namespace/name` that states an object of a key
 */
export function holderOf(
  child: Child,
  resource: StoredDatabaseService,
  states: (databaseKey: string, key: string) => boolean,
): string | undefined {
  const { owner, databaseKey, isMadeByUs } = child;
  const { name, namespace, uid } = resource.metadata;
  if (owner?.uid === uid) return undefined;
  if (owner !== undefined && !isEarlierLife(owner, resource)) return `${owner.kind} ${owner.name}`;
  if (databaseKey === `${namespace}/${name}`) return undefined;
  if (isMadeByUs && !states(databaseKey, keyOfChild(child))) return undefined;
  if (databaseKey !== '') return `DatabaseService ${databaseKey.split('/')[1]}`;
  return 'somebody who is not Plumbline';
}

/**
 * Whether an object that bears the label of one database is another's, which will put its own label back. The names of all that a database states
 * begin with its own.
 */
export function isAnothers(
  child: Child,
  { metadata }: StoredDatabaseService,
  states: (databaseKey: string, key: string) => boolean,
): boolean {
  const words = child.name.split('-');
  const names = words.map((_, index) => words.slice(0, index + 1).join('-'));
  const key = keyOfChild(child);
  return names.some((name) => name !== metadata.name && states(`${metadata.namespace}/${name}`, key));
}

/** An owner of the same name with another uid: this database before it was deleted and created again, or restored. */
function isEarlierLife(owner: NonNullable<Child['owner']>, { kind, metadata }: StoredDatabaseService): boolean {
  return owner.kind === kind && owner.name === metadata.name;
}
