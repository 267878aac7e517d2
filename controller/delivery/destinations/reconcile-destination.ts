import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';
import { classify, type Clock, type Kube } from '../../kube/index.ts';
import { isDestinationStatus, nextDestinationStatus } from './destination-status.ts';
import { gitDestinations, type Destinations } from './destinations.ts';

export interface DestinationReconcilerOptions {
  readonly kube: Kube;
  readonly destinations: Destinations;
  /** A wall clock. */
  readonly clock: Clock;
  /** Called with the name of a destination after its writer is there, or is not any more. */
  readonly settled: (name: string) => void;
}

const statusManager = 'plumbline-status';
const goneKinds: ReadonlySet<string> = new Set(['object-missing', 'object-gone', 'object-replaced']);

/** Has each destination a writer, and says in its status what became of it. */
export class DestinationReconciler {
  readonly #options: DestinationReconcilerOptions;
  /** What its databases were last told of: a status of ours changes nothing for them. */
  readonly #told = new Map<string, string>();

  constructor(options: DestinationReconcilerOptions) {
    this.#options = options;
  }

  /** @throws KubeError where the status could not be written */
  async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { destinations, settled, clock } = this.#options;
    await destinations.pool.settle(destinations.all());
    const destination = destinations.get(name);
    const state = destination === undefined ? '' : `${destination.metadata.uid} ${destination.metadata.generation}`;
    if (this.#told.get(name) !== state) {
      this.#told.set(name, state);
      settled(name);
    }
    if (destination === undefined) return;
    const news = destinations.news(destination);
    if (news !== undefined)
      await this.#write(destination, nextDestinationStatus(destination, news, clock.now()), signal);
  }

  async #write(
    { apiVersion, kind, metadata, status: before }: StoredGitDestination,
    status: ReturnType<typeof nextDestinationStatus>,
    signal: AbortSignal,
  ): Promise<void> {
    if (isDestinationStatus(status, before)) return;
    const { name, uid, resourceVersion } = metadata;
    const options = { type: gitDestinations, subresource: 'status', fieldManager: statusManager, force: true, signal };
    try {
      await this.#options.kube.apply({ apiVersion, kind, metadata: { name, uid, resourceVersion }, status }, options);
    } catch (error) {
      if (!goneKinds.has(classify(error).kind)) throw error;
    }
  }
}
