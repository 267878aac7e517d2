import type { Shop } from './shop.ts';

/** A pod that runs, as far as its kubelet is concerned. */
export const ready = {
  phase: 'Running',
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'PodScheduled', status: 'True' },
  ],
};

/** The members of a database on a control plane without nodes: pods that exist, of which others say what a node would. */
export class PlayedMembers {
  readonly #shop: Pick<Shop, 'patch'>;
  readonly #database: string;

  constructor(shop: Pick<Shop, 'patch'>, database: string) {
    this.#shop = shop;
    this.#database = database;
  }

  /** Says of a member what its kubelet would. */
  async say(ordinal: number, status: object): Promise<void> {
    await this.#shop.patch('Pod', `${this.#database}-${ordinal}`, {
      kind: 'strategic',
      body: { status },
      subresource: 'status',
      fieldManager: 'kubelet',
    });
  }

  /** Says of a member what its Patroni and its steward would: by default a replica streams. */
  async role(ordinal: number, role: 'primary' | 'replica', more: object = {}): Promise<void> {
    const streams = role === 'replica' ? { replication_state: 'streaming' } : {};
    const annotations = {
      'plumbline.dev/settings': '{"digest":"d","refused":{},"restart":{}}',
      status: JSON.stringify({ state: 'running', role, ...streams, ...more }),
    };
    const body = { metadata: { labels: { 'plumbline.dev/role': role }, annotations } };
    await this.#shop.patch('Pod', `${this.#database}-${ordinal}`, { body, fieldManager: 'Patroni' });
  }
}
