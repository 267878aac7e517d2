import type { Readable } from 'node:stream';
import { toObject, toPage } from './answer.ts';
import type { Connection } from './cluster-connection.ts';
import { Exchange, type Call, type ExchangeOptions } from './exchange.ts';
import { decodeJsonLines } from './json-lines.ts';
import { isRecord, KubeError, type Tried } from './kube-error.ts';
import type * as Api from './kube.ts';
import { collectionPath, keyOf, objectPath, type KubeObject, type ObjectRef, type ResourceType } from './resource.ts';
import { readWatchEvent } from './watch-event.ts';

export type KubeClientOptions = ExchangeOptions;

/** {@link Api.Kube} over a {@link Connection}. */
export class KubeClient implements Api.Kube {
  readonly #exchange: Exchange;

  constructor(connection: Connection, options: KubeClientOptions = {}) {
    this.#exchange = new Exchange(connection, options);
  }

  async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: Api.GetOptions): Promise<T> {
    const headers = accept(options?.metadataOnly === true ? 'PartialObjectMetadata' : undefined);
    return this.#callFor({
      ...about('get', type, ref),
      method: 'GET',
      path: objectPath(type, ref),
      headers,
      options,
    });
  }

  async *list<T extends KubeObject>(
    type: ResourceType<T>,
    options: Api.ListOptions = {},
  ): AsyncGenerator<Api.Page<T>, void> {
    const { namespace, labelSelector, fieldSelector, limit = 500 } = options;
    const headers = accept(options.metadataOnly === true ? 'PartialObjectMetadataList' : undefined);
    const call = { ...about('list', type, { name: '', namespace }), method: 'GET', headers, options } as const;
    let next: string | undefined;
    do {
      const path = collectionPath(type, namespace) + query({ labelSelector, fieldSelector, limit, continue: next });
      const page = await this.#exchange.call({ ...call, path }, (body) => toPage(type, body));
      yield { items: page.items, resourceVersion: page.resourceVersion };
      next = page.next;
    } while (next !== undefined);
  }

  async apply<T extends KubeObject>(object: KubeObject, options: Api.ApplyOptions<T>): Promise<Api.Applied<T>> {
    const { type, fieldManager, force, dryRun, subresource, metadataOnly } = options;
    const search = query({
      fieldManager,
      force,
      fieldValidation: 'Strict',
      dryRun: dryRun === true ? 'All' : undefined,
    });
    return this.#exchange.call(
      {
        ...about('apply', type, object.metadata, subresource),
        method: 'PATCH',
        path: objectPath(type, object.metadata, subresource) + search,
        headers: {
          ...accept(metadataOnly === true ? 'PartialObjectMetadata' : undefined),
          'content-type': 'application/apply-patch+yaml',
        },
        body: object,
        options,
      },
      (body, status) => ({ object: toObject(type, body), isCreated: status === 201 }),
    );
  }

  async create<T extends KubeObject>(object: KubeObject, options: Api.CreateOptions<T>): Promise<T> {
    const { type, fieldManager, dryRun } = options;
    const search = query({ fieldManager, fieldValidation: 'Strict', dryRun: dryRun === true ? 'All' : undefined });
    return this.#callFor({
      ...about('create', type, object.metadata),
      method: 'POST',
      path: collectionPath(type, object.metadata.namespace) + search,
      headers: { ...accept(), 'content-type': 'application/json' },
      body: object,
      options,
    });
  }

  async delete(type: ResourceType, ref: ObjectRef, options: Api.DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
    const preconditions = { uid, resourceVersion };
    await this.#exchange.call(
      {
        ...about('delete', type, ref),
        method: 'DELETE',
        path: objectPath(type, ref),
        headers: { ...accept(), 'content-type': 'application/json' },
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy, gracePeriodSeconds },
        options,
      },
      () => undefined,
    );
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Api.Patch,
    options?: Api.CallOptions,
  ): Promise<T> {
    const { kind, body, fieldManager, subresource } = patch;
    return this.#callFor({
      ...about('patch', type, ref, subresource),
      method: 'PATCH',
      path: objectPath(type, ref, subresource) + query({ fieldManager, fieldValidation: 'Strict' }),
      headers: { ...accept(), 'content-type': PATCH_TYPES[kind] },
      body,
      options,
    });
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: Api.WatchOptions,
  ): AsyncGenerator<Api.WatchEvent<T>, void> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = options;
    const search = query({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion,
      timeoutSeconds,
      labelSelector,
      fieldSelector,
    });
    const call: Call = {
      ...about('watch', type, { name: '', namespace }),
      method: 'GET',
      path: collectionPath(type, namespace) + search,
      headers: accept(options.metadataOnly === true ? 'PartialObjectMetadata' : undefined),
      options: { signal },
    };
    yield* this.#exchange.stream(call, (body) => readWatch(type, call.tried, body));
  }

  async raw(path: string, options?: Api.CallOptions): Promise<unknown> {
    const tried: Tried = { verb: 'get', kind: path, object: '' };
    return this.#exchange.call({ verb: 'raw', tried, method: 'GET', path, headers: accept(), options }, (body) => body);
  }

  /**
   * POST of a question that is answered and not stored, such as a TokenReview.
   * @returns the `status` of the answer; empty where there is none
   */
  async review(
    type: ResourceType,
    spec: object,
    options?: Api.CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { apiVersion, kind } = type;
    return this.#exchange.call(
      {
        ...about('create', type, { name: '' }),
        method: 'POST',
        path: collectionPath(type, undefined),
        headers: { ...accept(), 'content-type': 'application/json' },
        body: { apiVersion, kind, spec },
        options,
      },
      (body) => (isRecord(body) && isRecord(body['status']) ? body['status'] : {}),
    );
  }

  #callFor<T extends KubeObject>(call: Call & { readonly type: ResourceType<T> }): Promise<T> {
    return this.#exchange.call(call, (body) => toObject(call.type, body));
  }
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

function about<V extends Call['verb'], R extends ResourceType>(verb: V, type: R, ref: ObjectRef, subresource?: string) {
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  const object = ref.name === '' ? (ref.namespace ?? '') : keyOf(ref);
  return { verb, type, tried: { verb, kind, object } };
}

function accept(as?: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): Readonly<Record<string, string>> {
  return { accept: as === undefined ? 'application/json' : `application/json;as=${as};g=meta.k8s.io;v=v1` };
}

function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

async function* readWatch<T extends KubeObject>(
  type: ResourceType<T>,
  tried: Tried,
  body: Readable,
): AsyncGenerator<Api.WatchEvent<T>, void> {
  for await (const document of decodeJsonLines(body)) {
    const event = readWatchEvent(type, tried, document);
    if (event instanceof KubeError) throw event;
    yield event;
  }
}
