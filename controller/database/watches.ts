import { databaseLabel } from '../../constructs/labels.ts';
import { Reflector, type Kube, type ReflectorHandler, type ReflectorReport, type ResourceType } from '../kube/index.ts';
import type { Cache } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Children } from './children.ts';
import type { Databases } from './databases.ts';
import { databaseServices, watchedKinds } from './kinds.ts';

export interface WatchOptions {
  readonly kube: Kube;
  readonly log: Logger;
  readonly children: Children;
  readonly databases: Databases;
  /** Defaults to all. */
  readonly namespace?: string;
}

/** Everything that is watched: the DatabaseServices, and whatever bears the label of one. */
export function watches({ kube, log, children, databases, namespace }: WatchOptions): readonly Cache[] {
  /** The kinds whose watch has found out about the same loss of history. */
  const goneBack = new Set<string>();
  const note = ({ kind }: ResourceType, report: ReflectorReport): void => {
    if (report.kind !== 'version-backwards') return tell(log, kind, report);
    children.forgetVersions(kind);
    databases.forgetVersions();
    // Each watch finds out by itself, and it is told once; a watch that finds out again tells of another time.
    if (goneBack.has(kind)) goneBack.clear();
    if (goneBack.size === 0) {
      log.warn(
        { watch: kind, ...report },
        'the version of the API server went back, as after a restored backup; everything is read again',
      );
    }
    goneBack.add(kind);
  };
  const watch = (
    type: ResourceType,
    selection: { readonly labelSelector?: string; readonly metadataOnly?: boolean },
    handler: ReflectorHandler,
  ): Cache => {
    const report = (one: ReflectorReport): void => note(type, one);
    const reflector = new Reflector({ kube, type, selection: { namespace, ...selection }, handler, report });
    return { name: type.plural, start: (signal) => reflector.start(signal), synced: reflector.synced };
  };
  return [
    watch(
      databaseServices,
      {},
      {
        onUpsert: (object, { isInitial }) => databases.upsert(object, isInitial),
        onDelete: (key) => databases.delete(key),
      },
    ),
    ...watchedKinds.map(({ type, metadataOnly }) =>
      watch(
        type,
        { labelSelector: databaseLabel, metadataOnly },
        {
          onUpsert: (object, { isInitial }) => children.upsert(object, isInitial),
          onDelete: (key, { uid, last }) => children.delete(type.kind, key, { uid, isSeen: last !== undefined }),
          onRelisted: (_, listed) => children.listed(type.kind, listed),
        },
      ),
    ),
  ];
}

function tell(log: Logger, watch: string, report: Exclude<ReflectorReport, { kind: 'version-backwards' }>): void {
  switch (report.kind) {
    case 'handler-failed':
      return log.error({ watch, key: report.key, err: report.error }, 'a change could not be taken in');
    case 'request-failed':
      return log.warn({ watch, doing: report.doing, err: report.error }, 'a watch was interrupted');
    case 'watch-silent':
    case 'waiting':
      return log.debug({ watch, ...report }, 'a watch is opened again');
  }
}
