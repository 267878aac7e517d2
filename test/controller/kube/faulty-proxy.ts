import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Connection, HttpRequest } from '../../../controller/kube/index.ts';
import { answer, kubeconfigFor } from './scripted-server.ts';
import { discardFolder } from '../../discard-folder.ts';

/** What goes wrong with one answer. A line is one event of a watch. */
export type Fault =
  /** Nothing is asked of the server; this is the answer. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** The server is asked so much later; the answer is whole. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection is reset, half of the next line having been sent if `midLine`. */
  | { readonly kind: 'reset'; readonly afterLines: number; readonly midLine?: boolean }
  /** Nothing more comes, and nothing ends. */
  | { readonly kind: 'stall'; readonly afterLines: number }
  /** A line that is no JSON comes, then the others. */
  | { readonly kind: 'malformed-line'; readonly afterLines: number }
  /** An ERROR event with this status comes, as the server sends it. */
  | { readonly kind: 'error-event'; readonly afterLines: number; readonly status: number }
  /** The answer ends in good order. */
  | { readonly kind: 'end'; readonly afterLines: number };

/** `list`: whatever is no watch, `write`: whatever changes something. */
export type Asked = 'list' | 'watch' | 'write';

/** Requests that are on their way for long. */
export interface Held {
  /** `PATCH /path` of those that wait. */
  readonly waiting: readonly string[];
  /** Lets them go, and returns their answers: the status of each. Those that come later do not wait. */
  release(): Promise<ReadonlyMap<string, number>>;
}

interface Hold {
  readonly matches: (request: string) => boolean;
  readonly released: PromiseWithResolvers<void>;
  readonly waiting: Map<string, PromiseWithResolvers<number>>;
}

interface Injected {
  readonly matches: (url: URL, method: string) => boolean;
  readonly fault: Fault;
  timesLeft: number;
}

/** An API server that can fail in chosen ways: plain HTTP in front of a connection to a real one. */
export class FaultyProxy implements AsyncDisposable {
  /** To where requests go; may be changed on the way. */
  upstream: Connection;
  /** Answers are cut into pieces of so many bytes, each sent by itself. */
  pieceBytes: number | undefined;
  readonly url: string;
  readonly requests: URL[] = [];
  readonly #server: Server;
  readonly #folder: string;
  #injected: Injected[] = [];
  #hold: Hold | undefined;

  constructor(server: Server, folder: string, upstream: Connection) {
    this.#server = server;
    this.#folder = folder;
    this.upstream = upstream;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(upstream: Connection): Promise<FaultyProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyProxy(server, await mkdtemp(join(tmpdir(), 'plumbline-proxy-')), upstream);
  }

  /** A kubeconfig whose server is this proxy. */
  async kubeconfig(): Promise<string> {
    const path = join(this.#folder, 'kubeconfig');
    await writeFile(path, JSON.stringify(kubeconfigFor(this.url)));
    return path;
  }

  /** The next `times` requests of that kind fail so. */
  inject(kind: Asked, fault: Fault, times = 1): void {
    const matches = (url: URL, method: string): boolean =>
      kind === 'write' ? method !== 'GET' : url.searchParams.has('watch') === (kind === 'watch');
    this.#injected.push({ matches, fault, timesLeft: times });
  }

  /** Faults that have not happened yet. */
  get pending(): number {
    return this.#injected.length;
  }

  /** Forgets the faults that have not happened yet. */
  heal(): void {
    this.#injected = [];
  }

  /** Requests of which `PATCH /path` matches wait before the server is asked, until they are let go. */
  hold(matches: (request: string) => boolean): Held {
    const hold: Hold = { matches, released: Promise.withResolvers(), waiting: new Map() };
    this.#hold = hold;
    const answers = () => [...hold.waiting].map(async ([request, { promise }]) => [request, await promise] as const);
    return {
      get waiting() {
        return [...hold.waiting.keys()];
      },
      release: async () => {
        this.#hold = undefined;
        hold.released.resolve();
        return new Map(await Promise.all(answers()));
      },
    };
  }

  /** Resets every connection there is. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
    discardFolder(this.#folder);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    this.requests.push(url);
    const fault = this.#take(url, request.method ?? 'GET');
    if (fault?.kind === 'status') return refuse(response, fault);
    if (fault?.kind === 'delay') await setTimeout(fault.ms);
    const held = await this.#held(`${request.method} ${url.pathname}`);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const upstream = await this.upstream.request({
      method: (request.method ?? 'GET') as HttpRequest['method'],
      path: url.pathname + url.search,
      headers: forwarded(request),
      body: (await text(request)) || undefined,
      lane: url.searchParams.has('watch') ? 'watches' : 'requests',
      signal: gone.signal,
    });
    held?.resolve(upstream.status);
    response.writeHead(upstream.status, { 'content-type': upstream.header('content-type') ?? 'application/json' });
    response.flushHeaders();
    const lines = new FaultyLines(response, fault?.kind === 'delay' ? undefined : fault, this.pieceBytes);
    await lines.begin();
    for await (const chunk of upstream.body) {
      if (!(await lines.pass(chunk as Buffer))) return;
    }
    response.end();
  }

  async #held(request: string): Promise<PromiseWithResolvers<number> | undefined> {
    const hold = this.#hold;
    if (hold?.matches(request) !== true) return undefined;
    const answered = Promise.withResolvers<number>();
    hold.waiting.set(request, answered);
    await hold.released.promise;
    return answered;
  }

  #take(url: URL, method: string): Fault | undefined {
    const injected = this.#injected.find(({ matches }) => matches(url, method));
    if (injected === undefined) return undefined;
    injected.timesLeft -= 1;
    if (injected.timesLeft === 0) this.#injected = this.#injected.filter((one) => one !== injected);
    return injected.fault;
  }
}

type LineFault = Exclude<Fault, { kind: 'status' | 'delay' }>;

/** Passes an answer on, up to its fault. */
class FaultyLines {
  readonly #response: ServerResponse;
  readonly #fault: LineFault | undefined;
  readonly #pieceBytes: number | undefined;
  #lines = 0;
  #hasFailed = false;

  constructor(response: ServerResponse, fault: LineFault | undefined, pieceBytes: number | undefined) {
    this.#response = response;
    this.#fault = fault;
    this.#pieceBytes = pieceBytes;
  }

  /** A fault after no line comes without waiting for one. */
  async begin(): Promise<void> {
    if (this.#fault?.afterLines === 0 && this.#fault.kind !== 'reset') await this.#fail(Buffer.alloc(0));
  }

  /** @returns false if nothing may follow. */
  async pass(chunk: Buffer): Promise<boolean> {
    let start = 0;
    while (start < chunk.length) {
      if (!this.#hasFailed && this.#lines === this.#fault?.afterLines) await this.#fail(chunk.subarray(start));
      if (this.#response.writableEnded || this.#response.destroyed || this.#isStalled) return false;
      const newline = chunk.indexOf('\n', start);
      const end = newline === -1 ? chunk.length : newline + 1;
      await this.#write(chunk.subarray(start, end));
      if (newline !== -1) this.#lines += 1;
      start = end;
    }
    return true;
  }

  get #isStalled(): boolean {
    return this.#hasFailed && this.#fault?.kind === 'stall';
  }

  async #fail(next: Buffer): Promise<void> {
    this.#hasFailed = true;
    const fault = this.#fault;
    if (fault === undefined) return;
    switch (fault.kind) {
      case 'reset':
        if (fault.midLine === true) await this.#write(next.subarray(0, Math.max(1, next.length >> 1)));
        this.#response.destroy();
        return;
      case 'malformed-line':
        await this.#write(Buffer.from('{"type":"MODIFIED","object":{"kind"\n'));
        return;
      case 'error-event':
        await this.#write(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status(fault.status) })}\n`));
        return;
      case 'end':
        this.#response.end();
        return;
      case 'stall':
        return;
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    const size = this.#pieceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise((resolve) => this.#response.write(bytes.subarray(at, at + size), resolve));
      if (this.#pieceBytes !== undefined) await setImmediate();
    }
  }
}

function refuse(
  response: ServerResponse,
  { status: code, retryAfterSeconds }: Extract<Fault, { kind: 'status' }>,
): void {
  answer(
    response,
    code,
    status(code),
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

function status(code: number): object {
  const reasons: Readonly<Record<number, string>> = {
    409: 'Conflict',
    410: 'Expired',
    429: 'TooManyRequests',
    500: 'InternalError',
  };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason: reasons[code],
    message: 'a fault of this test',
  };
}

function forwarded(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['accept', 'content-type', 'user-agent']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}
