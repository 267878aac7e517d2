import { gitDestinationKind, gitDestinationPlural } from '../../../constructs/api/git-destination/resource.ts';
import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';
import { apiVersion, type StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { finalizerFor } from '../../database/git-finalizers.ts';
import type { KubeObject, ResourceType } from '../../kube/index.ts';
import { folderOf } from '../git/repository-path.ts';
import type { BatchEnd } from '../git/writer.ts';
import type { GitTarget } from '../git-target.ts';
import type { PlaceNews } from './destination-status.ts';
import { placeKey, placeOf } from './place.ts';
import type { WriterPool } from './writer-pool.ts';

export const gitDestinations: ResourceType = {
  apiVersion,
  kind: gitDestinationKind,
  plural: gitDestinationPlural,
  namespaced: false,
};

export interface DestinationsOptions {
  /** Stands for `<cluster>` in paths. */
  readonly cluster: string;
  readonly clock: { now(): number };
  readonly pool: (onBatch: (place: string, end: BatchEnd) => void) => WriterPool;
  /** Called with the name of a destination whose status may have to say something else, or that came, changed or went. */
  readonly changed: (name: string) => void;
  /** Called with the name of a destination that takes commits again. */
  readonly recovered: (name: string) => void;
}

/** The GitDestinations as the watch showed them, and what became of their places. */
export class Destinations {
  readonly pool: WriterPool;
  readonly #options: DestinationsOptions;
  readonly #resources = new Map<string, StoredGitDestination>();
  readonly #news = new Map<string, PlaceNews>();

  constructor(options: DestinationsOptions) {
    this.#options = options;
    this.pool = options.pool((place, end) => this.#noteBatch(place, end));
  }

  get(name: string): StoredGitDestination | undefined {
    return this.#resources.get(name);
  }

  all(): Iterable<StoredGitDestination> {
    return this.#resources.values();
  }

  /** What became of its place; undefined while nothing has. */
  news(destination: StoredGitDestination): PlaceNews | undefined {
    return this.#news.get(this.#placeKey(destination));
  }

  upsert(object: KubeObject): void {
    const destination = object as unknown as StoredGitDestination;
    this.#resources.set(destination.metadata.name, destination);
    this.#options.changed(destination.metadata.name);
  }

  delete(name: string): void {
    this.#resources.delete(name);
    this.#options.changed(name);
  }

  /** Has the destinations that name a Secret look at their repositories, which may let us in now. */
  secretChanged(secretName: string): void {
    for (const destination of this.#resources.values()) {
      const { credentials, signingKey } = destination.spec;
      const isNamed = [credentials, signingKey].some((one) => one?.secretName === secretName);
      if (isNamed) this.pool.look(this.#placeKey(destination));
    }
  }

  /** Where a database is in a destination. */
  targetIn(name: string, { metadata }: Pick<StoredDatabaseService, 'metadata'>): GitTarget {
    const { namespace } = metadata;
    const destination = this.#resources.get(name);
    if (destination === undefined) {
      return unusable(`GitDestination ${name} does not exist: create it, or name another one in delivery.git.`);
    }
    const { namespaces, path } = destination.spec;
    if (namespaces !== undefined && !namespaces.includes(namespace)) {
      const advice = 'Add it to its namespaces, or name another one in delivery.git.';
      return unusable(`GitDestination ${name} is not for the namespace ${namespace}. ${advice}`);
    }
    const { cluster } = this.#options;
    const { url, branch, ...rest } = placeOf(destination, cluster);
    const place = placeKey({ url, branch, ...rest });
    if (!this.pool.has(place)) {
      const failure = this.#news.get(place)?.failure;
      return unusable(failure instanceof Error ? failure.message : `GitDestination ${name} was not yet looked at.`);
    }
    const folder = folderOf({ cluster, namespace, name: metadata.name }, path);
    return {
      kind: 'place',
      id: `${placeKey({ url, branch })} ${folder}`,
      way: place,
      finalizer: finalizerFor(name),
      submit: (submission) => this.pool.submit(place, { ...submission, folder }),
    };
  }

  #placeKey(destination: StoredGitDestination): string {
    return placeKey(placeOf(destination, this.#options.cluster));
  }

  #noteBatch(place: string, { commit, failure, size, inReview }: BatchEnd): void {
    const before = this.#news.get(place);
    this.#news.set(place, {
      failure,
      commit: commit ?? before?.commit,
      pushedAt: commit === undefined ? before?.pushedAt : this.#options.clock.now(),
      pending: failure === undefined ? 0 : size,
      inReview,
    });
    const isRecovered = before?.failure !== undefined && failure === undefined;
    for (const destination of this.#resources.values()) {
      if (this.#placeKey(destination) !== place) continue;
      this.#options.changed(destination.metadata.name);
      if (isRecovered) this.#options.recovered(destination.metadata.name);
    }
  }
}

function unusable(failure: string): GitTarget {
  return { kind: 'unusable', failure };
}
