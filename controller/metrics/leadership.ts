import { Gauge, type Registry } from 'prom-client';

/** Who leads, under the name of client-go. */
export class LeadershipMetrics {
  #lease: { readonly name: string; readonly isLeading: () => boolean } | undefined;

  constructor(registry: Registry) {
    const status = new Gauge({
      name: 'leader_election_master_status',
      help: '1 while this process holds the lease of that name, 0 while it waits for it.',
      labelNames: ['name'],
      registers: [registry],
      collect: () => {
        const lease = this.#lease;
        if (lease !== undefined) status.set({ name: lease.name }, lease.isLeading() ? 1 : 0);
      },
    });
  }

  /** From now on this is the election. */
  follow(name: string, isLeading: () => boolean): void {
    this.#lease = { name, isLeading };
  }
}
