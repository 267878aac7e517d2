import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Child } from './child.ts';

/**
 * Who holds the name of an object, in words; undefined when it is this database, or nobody who would mind. What bears our label and has no owner
 * was ours (an owner can be lost in a backup), or was made for us by a GitOps tool; what was made by us, has no owner and bears no label or that of
 * a database which does not exist, has lost its label.
 */
export function holderOf(
  child: Child,
  resource: StoredDatabaseService,
  isDatabase: (key: string) => boolean,
): string | undefined {
  const { owner, databaseKey, isMadeByUs } = child;
  const { name, namespace, uid } = resource.metadata;
  if (owner?.uid === uid) return undefined;
  if (owner !== undefined && !isEarlierLife(owner, resource)) return `${owner.kind} ${owner.name}`;
  if (databaseKey === `${namespace}/${name}`) return undefined;
  if (isMadeByUs && !isDatabase(databaseKey)) return undefined;
  if (databaseKey !== '') return `DatabaseService ${databaseKey.split('/')[1]}`;
  return 'somebody who is not Plumbline';
}

/** An owner of the same name with another uid: this database before it was deleted and created again, or restored. */
function isEarlierLife(owner: NonNullable<Child['owner']>, { kind, metadata }: StoredDatabaseService): boolean {
  return owner.kind === kind && owner.name === metadata.name;
}
