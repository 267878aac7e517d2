import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import { ConnectionError, explainTransportError } from './connection-error.ts';
import { Credentials, type Access, type TlsMaterial } from './credentials.ts';
import { Deadline, untilAborted } from './deadline.ts';
import type { Target } from './kubeconfig.ts';
import { openLanes, type Lane, type Lanes } from './lanes.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, as the API names it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly lane?: Lane;
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** Must be read to its end or destroyed, or the connection stays taken. */
  readonly body: Readable;
}

/** The way to one cluster: connections that are kept, and credentials that are renewed. */
export interface Connection {
  /** URL without credentials. */
  readonly server: string;
  /** Namespace of the context or of the pod. */
  readonly namespace: string | undefined;
  /** Where the configuration came from, for messages. */
  readonly source: string;
  /**
   * One request. A 401 makes it renew the credentials, if they can be, and try once more.
   * @throws ConnectionError if the server can't be reached; the transport's own error if the connection broke.
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/** How long the first question to the server may take, in milliseconds. */
const CHECK_MS = 15_000;

/** Longer than any watch (reflector.ts): what is left of older connections is idle. */
const RETIRED_MS = 30 * 60_000;

/** Made by `connect`. */
export class ClusterConnection implements Connection {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly source: string;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #proxyUrl: string | undefined;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  #lanes: { readonly tls: TlsMaterial; readonly lanes: Lanes } | undefined;
  /** Of certificates of before, with watches under way. */
  #retired: readonly { readonly lanes: Lanes; readonly at: number }[] = [];

  constructor(target: Target, clock: Clock) {
    const url = parseServer(target);
    this.server = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
    this.namespace = target.namespace;
    this.source = target.source;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#proxyUrl = target.cluster.proxyUrl;
    this.#credentials = new Credentials(target, clock);
    this.#clock = clock;
  }

  async prepare(): Promise<void> {
    this.#lanesFor((await this.#credentials.get()).tls);
  }

  async check(): Promise<void> {
    const problem = (): ConnectionError =>
      new ConnectionError(
        'unreachable',
        `the API server at ${this.server} gave no answer in ${CHECK_MS / 1000} s (${this.source})`,
      );
    const deadline = new Deadline(this.#clock, CHECK_MS, undefined, problem);
    try {
      const response = await this.request({ method: 'GET', path: '/version', signal: deadline.signal });
      await discard(response.body);
      if (response.status === 401) {
        throw new ConnectionError(
          'credentials',
          `${this.server} refuses the credentials of ${this.source} (401). Log in again or renew the token`,
        );
      }
    } catch (error) {
      if (error instanceof ConnectionError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new ConnectionError('unreachable', `the connection to ${this.server} broke: ${why} (${this.source})`, {
        cause: error,
      });
    } finally {
      deadline.release();
    }
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { signal } = request;
    const access = await untilAborted(this.#credentials.get(), signal);
    const response = await this.#send(request, access);
    if (response.status !== 401 || !this.#credentials.isRenewable) return response;
    await discard(response.body);
    await this.#credentials.forget(access);
    return this.#send(request, await untilAborted(this.#credentials.get(), signal));
  }

  async close(): Promise<void> {
    await Promise.all([this.#lanes?.lanes.destroy(), ...this.#retired.map(({ lanes }) => lanes.destroy())]);
  }

  async #send(request: HttpRequest, access: Access): Promise<HttpResponse> {
    const { method, path, headers, body, lane = 'requests', signal } = request;
    let response: Dispatcher.ResponseData;
    try {
      response = await this.#lanesFor(access.tls)
        .of(lane)
        .request({
          origin: this.#origin,
          path: `${this.#basePath}${path}`,
          method,
          headers: { ...headers, ...access.headers },
          body: body ?? null,
          signal: signal ?? null,
        });
    } catch (error) {
      signal?.throwIfAborted();
      const explained = explainTransportError(error, this.server, this.source);
      // A certificate that does not fit any more may have been replaced on disk.
      if (explained?.problem === 'certificate') await this.#credentials.forget(access);
      throw explained ?? error;
    }
    // Without a listener an abort between two reads would be an uncaught exception.
    response.body.on('error', () => undefined);
    return { status: response.statusCode, header: (name) => headerOf(response.headers, name), body: response.body };
  }

  /** New certificates mean new connections; the old ones finish what they have begun. */
  #lanesFor(tls: TlsMaterial): Lanes {
    const current = this.#lanes;
    if (current !== undefined && isSame(current.tls, tls)) return current.lanes;
    const lanes = openLanes(tls, this.#proxyUrl);
    this.#lanes = { tls, lanes };
    if (current !== undefined) this.#retire(current.lanes);
    return lanes;
  }

  /**
   * What is under way on old connections goes on, and idle ones close by themselves. undici's own `close` would do
   * that too, but then `destroy` no longer reaches what is under way (8.13.1, Agent forgets its clients).
   */
  #retire(lanes: Lanes): void {
    const now = this.#clock.now();
    const isOver = ({ at }: { readonly at: number }): boolean => now - at > RETIRED_MS;
    for (const old of this.#retired.filter(isOver)) void old.lanes.destroy();
    this.#retired = [...this.#retired.filter((old) => !isOver(old)), { lanes, at: now }];
  }
}

function parseServer({ cluster, source }: Target): URL {
  const url = URL.parse(cluster.server);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConnectionError('kubeconfig-invalid', `the server of ${source} is not an http or https URL`);
  }
  return url;
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return (
    a.ca === b.ca &&
    a.cert === b.cert &&
    a.key === b.key &&
    a.rejectUnauthorized === b.rejectUnauthorized &&
    a.servername === b.servername
  );
}

function headerOf(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Reads a body to its end, so that its connection can be used again. */
async function discard(body: Readable): Promise<void> {
  for await (const chunk of body) void chunk;
}
