import { setTimeout as delay } from 'node:timers/promises';
import { engines } from '../../../constructs/engine.ts';
import { namesOf } from '../../../constructs/names.ts';
import { pods } from '../../../controller/database/kinds.ts';
import { document } from '../../../controller/database/document.ts';
import { classify, isObjectMissing, type KubeObject } from '../../../controller/kube/index.ts';
import type { Shop } from './shop.ts';

/**
 * Does for the pods of a database what a kubelet, Patroni and the steward would, where there is no node: they become ready, stream, read the
 * settings, restart when asked to and hand over.
 */
export class ActedMembers implements AsyncDisposable {
  readonly #shop: Shop;
  readonly #name: string;
  readonly #stop = new AbortController();
  readonly #acted: Promise<void>;
  #primary: string;
  #waiting: Readonly<Record<string, readonly [string, string]>> = {};
  readonly #restarted = new Set<string>();

  constructor(shop: Shop, name: string) {
    this.#shop = shop;
    this.#name = name;
    this.#primary = `${name}-0`;
    this.#acted = this.#act();
  }

  get primary(): string {
    return this.#primary;
  }

  /** Whether each member has been asked to restart since. */
  get areRestarted(): boolean {
    return this.#restarted.size === 3;
  }

  /** A change of a setting that each member has to restart for. */
  wait(waiting: Readonly<Record<string, readonly [string, string]>>): void {
    this.#waiting = waiting;
    this.#restarted.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#acted;
  }

  async #act(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#handOver();
        for (const pod of await this.#shop.list(pods, `plumbline.dev/database=${this.#name}`)) await this.#speak(pod);
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
      await delay(100);
    }
  }

  /** Patroni makes its lock, and does what it is asked by the ConfigMap of switchovers. */
  async #handOver(): Promise<void> {
    const { patroni, patroniFailover, patroniLeader } = namesOf(this.#name);
    const asked = (await this.#shop.get('ConfigMap', patroniFailover))?.metadata.annotations ?? {};
    if (asked['member'] !== undefined) {
      this.#primary = asked['member'];
      const annotations = { leader: null, member: null };
      await this.#shop.patch('ConfigMap', patroniFailover, {
        body: { metadata: { annotations } },
        fieldManager: 'Patroni',
      });
    }
    const labels = { 'plumbline.dev/patroni': patroni };
    const metadata = { name: patroniLeader, namespace: this.#shop.namespace, labels };
    const lock = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, annotations: { leader: this.#primary } },
    };
    const options = { type: this.#shop.typeOf('ConfigMap'), fieldManager: 'Patroni', force: true };
    await this.#shop.kube.apply(lock, options);
  }

  async #speak(pod: KubeObject): Promise<void> {
    const { name, annotations = {}, labels = {}, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) return;
    const isPrimary = name === this.#primary;
    const resource = await this.#shop.resource(this.#name);
    if (annotations['plumbline.dev/restart'] !== undefined) this.#restarted.add(name);
    const restart = this.#restarted.has(name) ? {} : this.#waiting;
    const digest = engines[resource.spec.engine].settingsDigest(document(resource));
    const streams = isPrimary ? {} : { replication_state: 'streaming' };
    const said = {
      status: JSON.stringify({ state: 'running', xlog_location: 100, ...streams }),
      'plumbline.dev/settings': JSON.stringify({ digest, refused: {}, restart }),
    };
    const role = isPrimary ? 'primary' : 'replica';
    const isSaid = Object.entries(said).every(([key, value]) => annotations[key] === value);
    if (!isSaid || labels['plumbline.dev/role'] !== role) {
      const body = { metadata: { labels: { 'plumbline.dev/role': role }, annotations: said } };
      await this.#shop.patch('Pod', name, { body, fieldManager: 'Patroni' });
    }
    const { phase } = pod['status'] as { readonly phase?: string };
    if (phase === 'Running') return;
    const conditions = ['Ready', 'PodScheduled'].map((type) => ({ type, status: 'True' }));
    const body = { status: { phase: 'Running', conditions } };
    await this.#shop.patch('Pod', name, { kind: 'strategic', body, subresource: 'status', fieldManager: 'kubelet' });
  }
}

/** What it wrote to has been deleted, made or written meanwhile, or the API server is slow: it looks again anyway. */
function isPassing(error: unknown): boolean {
  const { class: what, kind } = classify(error);
  return isObjectMissing(error) || what === 'retry-now' || passing.has(kind);
}

const passing: ReadonlySet<string> = new Set(['already-exists', 'throttled', 'unavailable', 'timeout']);
