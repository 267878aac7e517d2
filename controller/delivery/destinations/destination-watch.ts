import { Reflector, type Kube } from '../../kube/index.ts';
import type { Cache } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import { tellOfWatch } from '../../tell-of-watch.ts';
import { gitDestinations, type Destinations } from './destinations.ts';

export interface DestinationWatchOptions {
  readonly kube: Kube;
  readonly log: Logger;
  readonly destinations: Destinations;
}

/** The GitDestinations. They have no namespace, and are few. */
export function destinationWatch({ kube, log, destinations }: DestinationWatchOptions): Cache {
  const reflector = new Reflector({
    kube,
    type: gitDestinations,
    handler: {
      onUpsert: (object) => destinations.upsert(object),
      onDelete: (name) => destinations.delete(name),
    },
    report: (report) => tellOfWatch(log, gitDestinations.kind, report),
  });
  return {
    name: gitDestinations.plural,
    start: (signal) => reflector.start(signal),
    synced: reflector.synced,
  };
}
