import assert from 'node:assert/strict';
import test from 'node:test';
import { Children } from '../../../controller/database/children.ts';
import { Databases } from '../../../controller/database/databases.ts';
import { databaseServices, watchedKinds } from '../../../controller/database/kinds.ts';
import { watches } from '../../../controller/database/watches.ts';
import type { Kube, KubeObject, ListOptions, ResourceType, WatchEvent } from '../../../controller/kube/index.ts';
import { LogLines } from '../runtime/log-lines.ts';
import { live, resource, statedOf } from './given.ts';

const service = statedOf(resource(), 'Service/orders');
const orders = resource() as unknown as KubeObject;

/** An API server that lists what it is given, and whose watches give one event each and then are silent. */
class Given {
  readonly lists: { readonly kind: string; readonly options: ListOptions }[] = [];
  readonly log = new LogLines();
  readonly woken: string[] = [];
  readonly children = new Children((key, change) => this.woken.push(`${change} ${key}`));
  readonly databases = new Databases((key, isInitial) => this.woken.push(`${isInitial ? 'initial' : 'edit'} ${key}`));
  readonly #stop = new AbortController();
  readonly #namespaces: readonly string[];
  #running: readonly Promise<void>[] = [];

  constructor(...namespaces: readonly string[]) {
    this.#namespaces = namespaces.length === 0 ? ['shop'] : namespaces;
  }

  async start(
    objects: Readonly<Record<string, KubeObject>>,
    event: (kind: string) => WatchEvent | undefined,
  ): Promise<void> {
    const { lists } = this;
    const kube: Partial<Kube> = {
      async *list({ kind }: ResourceType, options: ListOptions = {}) {
        lists.push({ kind, options });
        const object = objects[kind];
        yield { items: object === undefined ? [] : [object], resourceVersion: '100' } as never;
      },
      async *watch({ kind }: ResourceType, { signal }) {
        const one = event(kind);
        if (one !== undefined) yield one as never;
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
      },
    };
    const { children, databases } = this;
    const namespaces = this.#namespaces;
    const caches = watches({ kube: kube as Kube, log: this.log.log, children, databases, namespaces });
    this.#running = caches.map(async (cache) => cache.start(this.#stop.signal));
    await Promise.all(caches.map(({ synced }) => synced));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    await Promise.all(this.#running);
  }
}

test('every kind is listed once, in the one namespace, by our label; of Secrets only the metadata', async () => {
  const given = new Given();
  await given.start({}, () => undefined);
  await given.stop();
  const asked = given.lists.map(({ kind, options: { namespace, labelSelector, metadataOnly } }) =>
    [kind, namespace, labelSelector, metadataOnly === true].join(' '),
  );
  const label = 'shop plumbline.dev/database';
  const expected = watchedKinds.map(({ type }) => `${type.kind} ${label} ${type.kind === 'Secret'}`);
  assert.deepEqual(asked.sort(), [`${databaseServices.kind} shop  false`, ...expected].sort());
});

test('of several namespaces every kind is listed once in each, and nothing elsewhere', async () => {
  const given = new Given('shop', 'finance');
  await given.start({}, () => undefined);
  await given.stop();
  const asked = Map.groupBy(given.lists, ({ options }) => options.namespace);
  assert.deepEqual(new Set(asked.keys()), new Set(['shop', 'finance']));
  for (const lists of asked.values()) assert.equal(lists.length, watchedKinds.length + 1);
});

test('what is there at the start wakes its database once, as such', async () => {
  const given = new Given();
  await given.start({ DatabaseService: orders, Service: live(service) }, () => undefined);
  await given.stop();
  assert.deepEqual(given.woken, ['initial shop/orders']);
  assert.equal(given.children.size, 1);
});

test('a deletion that a watch shows is one that was seen', async () => {
  const given = new Given();
  const object = live(service, { resourceVersion: '101' });
  await given.start({ Service: live(service) }, (kind) =>
    kind === 'Service' ? { type: 'DELETED', object } : undefined,
  );
  await given.stop();
  assert.deepEqual(given.woken, ['object shop/orders']);
});

test('https://github.com/kubernetes/kubernetes/issues/107457: that versions went back is told once, and no generation is trusted', async () => {
  const given = new Given();
  given.databases.upsert(orders, true);
  given.databases.memory('shop/orders', 'uid-orders').settledGeneration = 1;
  const kinds = new Set<string>();
  await given.start({ DatabaseService: orders }, (kind) => {
    if (kinds.has(kind)) return undefined;
    kinds.add(kind);
    return { type: 'BOOKMARK', resourceVersion: '50' };
  });
  await given.stop();
  const told = given.log.lines.filter(({ msg }) => String(msg).includes('went back'));
  assert.equal(told.length, 1);
  assert.equal(kinds.size, watchedKinds.length + 1);
  assert.equal(given.databases.memory('shop/orders', 'uid-orders').settledGeneration, undefined);
});
