import { databaseLabel } from '../../constructs/labels.ts';
import {
  Reflector,
  type Kube,
  type ReflectorHandler,
  type ReflectorReport,
  type ResourceType,
  type Selection,
} from '../kube/index.ts';
import type { Cache } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { tellOfWatch } from '../tell-of-watch.ts';
import type { Children } from './children.ts';
import type { Databases } from './databases.ts';
import { databaseServices, watchedKinds } from './kinds.ts';

export interface WatchOptions {
  readonly kube: Kube;
  readonly log: Logger;
  readonly children: Children;
  readonly databases: Databases;
  /** Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * Everything that is watched: the DatabaseServices, and whatever bears the label of one. A watch is of one namespace or of all, so each of several
 * namespaces has watches of its own.
 */
export function watches({ kube, log, children, databases, namespaces }: WatchOptions): readonly Cache[] {
  /** The watches that have found out about the same loss of history. */
  const goneBack = new Set<string>();
  const note = (name: string, { kind }: ResourceType, report: ReflectorReport): void => {
    if (report.kind !== 'version-backwards') return tellOfWatch(log, kind, report);
    children.forgetVersions(kind);
    databases.forgetVersions();
    // Each watch finds out by itself, and it is told once; a watch that finds out again tells of another time.
    if (goneBack.has(name)) goneBack.clear();
    if (goneBack.size === 0) {
      log.warn(
        { watch: kind, ...report },
        'the version of the API server went back, as after a restored backup; everything is read again',
      );
    }
    goneBack.add(name);
  };
  const watch = (type: ResourceType, selection: Selection, handler: ReflectorHandler, pageSize?: number): Cache => {
    const { namespace } = selection;
    const name = namespace === undefined ? type.plural : `${type.plural} in ${namespace}`;
    const report = (one: ReflectorReport): void => note(name, type, one);
    const reflector = new Reflector({ kube, type, selection, handler, report, pageSize });
    return { name, start: (signal) => reflector.start(signal), synced: reflector.synced };
  };
  return (namespaces ?? [undefined]).flatMap((namespace) => [
    watch(
      databaseServices,
      { namespace },
      {
        onUpsert: (object, { isInitial }) => databases.upsert(object, isInitial),
        onDelete: (key) => databases.delete(key),
      },
    ),
    ...watchedKinds.map(({ type, metadataOnly, pageSize }) =>
      watch(
        type,
        { namespace, labelSelector: databaseLabel, metadataOnly },
        {
          onUpsert: (object, { isInitial }) => children.upsert(object, isInitial),
          onDelete: (key, { uid, last }) => children.delete(type.kind, key, { uid, isSeen: last !== undefined }),
          onRelisted: (_, listed) => children.listed(type.kind, namespace, listed),
        },
        pageSize,
      ),
    ),
  ]);
}
