import {
  Reflector,
  refOf,
  type Kube,
  type ReflectorHandler,
  type ReflectorReport,
  type ResourceType,
  type Selection,
} from '../../kube/index.ts';
import type { Cache } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import { tellOfWatch } from '../../tell-of-watch.ts';
import { gitDestinations, type Destinations } from './destinations.ts';
import { secrets } from './secret-access.ts';

export interface DestinationWatchOptions {
  readonly kube: Kube;
  readonly log: Logger;
  readonly destinations: Destinations;
  /** Where the Secrets are. */
  readonly namespace: string;
}

/** The GitDestinations, which have no namespace, and that the Secrets which they may name have changed: of these nothing is kept. */
export function destinationWatches(options: DestinationWatchOptions): readonly Cache[] {
  const { destinations, namespace } = options;
  return [
    watch(options, gitDestinations, undefined, {
      onUpsert: (object) => destinations.upsert(object),
      onDelete: (name) => destinations.delete(name),
    }),
    watch(
      options,
      secrets,
      { namespace, metadataOnly: true },
      {
        onUpsert: ({ metadata }, { isInitial }) => {
          if (!isInitial) destinations.secretChanged(metadata.name);
        },
        onDelete: (key) => destinations.secretChanged(refOf(key).name),
      },
    ),
  ];
}

function watch(
  { kube, log }: DestinationWatchOptions,
  type: ResourceType,
  selection: Selection | undefined,
  handler: ReflectorHandler,
): Cache {
  const name = selection?.namespace === undefined ? type.plural : `${type.plural} in ${selection.namespace}`;
  const report = (one: ReflectorReport): void => tellOfWatch(log, type.kind, one);
  const reflector = new Reflector({ kube, type, selection, handler, report });
  return { name, start: (signal) => reflector.start(signal), synced: reflector.synced };
}
