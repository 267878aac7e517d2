import { text } from 'node:stream/consumers';
import packageJson from '../../package.json' with { type: 'json' };
import { parseAnswer, toObject, toPage } from './answer.ts';
import { monotonicClock, type Clock } from './clock.ts';
import { ConnectionError } from './connection-error.ts';
import type { Connection, HttpRequest, HttpResponse } from './connection.ts';
import { Deadline } from './deadline.ts';
import { decodeJsonLines } from './json-lines.ts';
import { errorFromResponse, KubeError, type ClientReason, type Tried } from './kube-error.ts';
import type * as Api from './kube.ts';
import type { Lane } from './lanes.ts';
import { collectionPath, keyOf, objectPath, type KubeObject, type ObjectRef, type ResourceType } from './resource.ts';
import { readWatchEvent } from './watch-event.ts';

export interface KubeClientOptions {
  /** Called once for each request and for each page; must not throw. Defaults to nothing. */
  readonly onRequest?: (facts: Api.RequestFacts) => void;
  /** Defaults to `requests`; watches always have their own. */
  readonly lane?: Lane;
  /** Defaults to 30,000 milliseconds. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

interface Call extends Pick<HttpRequest, 'method' | 'path' | 'headers' | 'lane'> {
  readonly verb: Api.RequestFacts['verb'];
  readonly type?: ResourceType;
  readonly tried: Tried;
  readonly body?: unknown;
  readonly options?: Api.CallOptions;
}

/** {@link Api.Kube} over a {@link Connection}. */
export class KubeClient implements Api.Kube {
  readonly #connection: Connection;
  readonly #onRequest: ((facts: Api.RequestFacts) => void) | undefined;
  readonly #lane: Lane;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor(connection: Connection, options: KubeClientOptions = {}) {
    this.#connection = connection;
    this.#onRequest = options.onRequest;
    this.#lane = options.lane ?? 'requests';
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#clock = options.clock ?? monotonicClock;
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
      const page = await this.#call({ ...call, path }, (body) => toPage(type, body));
      yield { items: page.items, resourceVersion: page.resourceVersion };
      next = page.next;
    } while (next !== undefined);
  }

  async apply<T extends KubeObject>(object: KubeObject, options: Api.ApplyOptions<T>): Promise<Api.Applied<T>> {
    const { type, fieldManager, force, dryRun, subresource } = options;
    const search = query({
      fieldManager,
      force,
      fieldValidation: 'Strict',
      dryRun: dryRun === true ? 'All' : undefined,
    });
    return this.#call(
      {
        ...about('apply', type, object.metadata, subresource),
        method: 'PATCH',
        path: objectPath(type, object.metadata, subresource) + search,
        headers: { ...accept(), 'content-type': 'application/apply-patch+yaml' },
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
    await this.#call(
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
      lane: 'watches',
      options: { signal },
    };
    const deadline = this.#deadlineFor(call);
    try {
      const { body } = await this.#observed(call, () => this.#open(call, deadline));
      deadline.disarm();
      try {
        for await (const document of decodeJsonLines(body)) {
          const event = readWatchEvent(type, call.tried, document);
          if (event instanceof KubeError) throw event;
          yield event;
        }
      } catch (error) {
        throw asKubeError(error, call, 'WatchBroken');
      } finally {
        body.destroy();
      }
    } finally {
      deadline.release();
    }
  }

  async raw(path: string, options?: Api.CallOptions): Promise<unknown> {
    const tried: Tried = { verb: 'get', kind: path, object: '' };
    return this.#call({ verb: 'raw', tried, method: 'GET', path, headers: accept(), options }, (body) => body);
  }

  #callFor<T extends KubeObject>(call: Call & { readonly type: ResourceType<T> }): Promise<T> {
    return this.#call(call, (body) => toObject(call.type, body));
  }

  /** One whole request: opened, read, checked, reported. */
  async #call<R>(call: Call, read: (body: unknown, status: number) => R): Promise<R> {
    const deadline = this.#deadlineFor(call);
    try {
      return await this.#observed(call, async () => {
        const { status, body } = await this.#open(call, deadline);
        try {
          return { status, result: read(parseAnswer(await text(body)), status) };
        } catch (error) {
          throw asKubeError(error, call, deadline.signal.aborted ? 'NetworkError' : 'MalformedResponse');
        }
      }).then(({ result }) => result);
    } finally {
      deadline.release();
    }
  }

  /** @returns an answer of success, its body not yet read. */
  async #open(call: Call, deadline: Deadline): Promise<HttpResponse> {
    try {
      const response = await this.#connection.request({
        method: call.method,
        path: call.path,
        headers: { ...call.headers, 'user-agent': USER_AGENT },
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        lane: call.lane ?? this.#lane,
        signal: deadline.signal,
      });
      if (response.status < 300) return response;
      const body = parseAnswer(await text(response.body));
      throw errorFromResponse(call.tried, response.status, body, response.header('retry-after'), Date.now());
    } catch (error) {
      throw asKubeError(error, call, 'NetworkError');
    }
  }

  #deadlineFor(call: Call): Deadline {
    const ms = call.options?.timeoutMs ?? this.#timeoutMs;
    return new Deadline(this.#clock, ms, call.options?.signal, () => {
      const facts = { tried: call.tried, reason: 'ClientTimeout' satisfies ClientReason };
      return new KubeError({ ...facts, message: `no answer within ${ms / 1000} s from ${this.#connection.server}` });
    });
  }

  async #observed<R extends { readonly status: number }>(call: Call, send: () => Promise<R>): Promise<R> {
    const startedAt = this.#clock.now();
    const report = (status: number | undefined, reason: string | undefined): void =>
      this.#onRequest?.({ verb: call.verb, type: call.type, status, ms: this.#clock.now() - startedAt, reason });
    try {
      const result = await send();
      report(result.status, undefined);
      return result;
    } catch (error) {
      const failure = error instanceof KubeError ? error : undefined;
      report(failure?.status, failure === undefined ? 'Aborted' : (failure.reason ?? 'Unknown'));
      throw error;
    }
  }
}

const USER_AGENT = `plumbline/${packageJson.version}`;

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

/** KubeErrors, and what a caller's signal carries, pass as they are; anything else becomes a KubeError without status. */
function asKubeError(error: unknown, call: Call, reason: ClientReason): unknown {
  const aborted = call.options?.signal;
  if (aborted?.aborted === true) return aborted.reason;
  if (error instanceof KubeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof ConnectionError ? error : { cause: error };
  return new KubeError({ tried: call.tried, reason, message, cause });
}
