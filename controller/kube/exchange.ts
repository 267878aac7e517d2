import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import packageJson from '../../package.json' with { type: 'json' };
import { MalformedAnswerError, parseAnswer } from './answer.ts';
import { monotonicClock, type Clock } from './clock.ts';
import type { Connection, HttpRequest, HttpResponse } from './cluster-connection.ts';
import { Deadline } from './deadline.ts';
import { errorFromResponse, KubeError, type ClientReason, type Tried } from './kube-error.ts';
import type { CallOptions, RequestFacts } from './kube.ts';
import type { Lane } from './lanes.ts';
import { RequestSpans } from './request-spans.ts';
import type { ResourceType } from './resource.ts';

export interface ExchangeOptions {
  /** Called once for each request and for each page; must not throw. Defaults to nothing. */
  readonly onRequest?: (facts: RequestFacts) => void;
  /** Why they are made, told in their spans. Defaults to nothing. */
  readonly reason?: string;
  /** Defaults to `requests`; watches always have their own. */
  readonly lane?: Lane;
  /** Defaults to 30,000 milliseconds. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /**
   * Asked before each request: where it says no, nothing is sent, and the call fails with a KubeError of reason `NotLeading`. For what only the
   * leader may do, since one that was frozen does not know yet what has happened meanwhile. Defaults to always.
   */
  readonly mayAsk?: () => boolean;
}

/** One request to the API, before its transport. */
export interface Call {
  readonly verb: RequestFacts['verb'];
  readonly type?: ResourceType;
  readonly tried: Tried;
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly options?: CallOptions | undefined;
}

const USER_AGENT = `plumbline/${packageJson.version}`;

/** Sends calls over a connection: each within its time, reported once and in a span of its own, its failure a KubeError. */
export class Exchange {
  readonly #connection: Connection;
  readonly #onRequest: ((facts: RequestFacts) => void) | undefined;
  readonly #spans: RequestSpans;
  readonly #lane: Lane;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #mayAsk: () => boolean;

  constructor(connection: Connection, options: ExchangeOptions) {
    this.#connection = connection;
    this.#onRequest = options.onRequest;
    this.#spans = new RequestSpans(connection.server, options.reason);
    this.#lane = options.lane ?? 'requests';
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#clock = options.clock ?? monotonicClock;
    this.#mayAsk = options.mayAsk ?? (() => true);
  }

  /** One request with its whole answer, which `read` takes from JSON and checks. */
  async call<R>(call: Call, read: (body: unknown, status: number) => R): Promise<R> {
    this.#checkMayAsk(call);
    const deadline = this.#deadlineFor(call);
    try {
      const { result } = await this.#observed(
        call,
        async () => {
          const { status, body } = await this.#open(call, this.#lane, deadline.signal);
          return { status, result: read(parseAnswer(await text(body)), status) };
        },
        deadline.signal,
      );
      return result;
    } finally {
      deadline.release();
    }
  }

  /** One request whose answer goes on; only its beginning has a time limit. `read` ends the body when it is left early. */
  async *stream<R>(call: Call, read: (body: Readable) => AsyncIterable<R>): AsyncGenerator<R, void> {
    this.#checkMayAsk(call);
    const deadline = this.#deadlineFor(call);
    try {
      const { body } = await this.#observed(call, () => this.#open(call, 'watches', deadline.signal), deadline.signal);
      deadline.disarm();
      try {
        yield* read(body);
      } catch (error) {
        throw toKubeError(error, call.tried, deadline.signal, 'WatchBroken');
      }
    } finally {
      deadline.release();
    }
  }

  /** @returns an answer of success, its body not yet read. */
  async #open(call: Call, lane: Lane, signal: AbortSignal): Promise<HttpResponse> {
    const { method, path } = call;
    const headers = { ...call.headers, 'user-agent': USER_AGENT };
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const response = await this.#connection.request({ method, path, headers, body, lane, signal });
    if (response.status < 300) return response;
    const answer = parseAnswer(await text(response.body));
    throw errorFromResponse(call.tried, response.status, answer, response.header('retry-after'), Date.now());
  }

  #checkMayAsk({ tried }: Call): void {
    if (this.#mayAsk()) return;
    const reason: ClientReason = 'NotLeading';
    throw new KubeError({ tried, reason, message: 'the lease is not known to be held any more, so nothing was asked' });
  }

  #deadlineFor({ tried, options }: Call): Deadline {
    const ms = options?.timeoutMs ?? this.#timeoutMs;
    const reason: ClientReason = 'ClientTimeout';
    const message = `no answer within ${ms / 1000} s from ${this.#connection.server}`;
    return new Deadline(this.#clock, ms, options?.signal, () => new KubeError({ tried, reason, message }));
  }

  async #observed<R extends { readonly status: number }>(
    call: Call,
    send: () => Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    const startedAt = this.#clock.now();
    const report = (status: number | undefined, reason: string | undefined): void =>
      this.#onRequest?.({ verb: call.verb, type: call.type, status, ms: this.#clock.now() - startedAt, reason });
    return this.#spans.around(call, async () => {
      let result: R;
      try {
        result = await send();
      } catch (thrown) {
        const error = toKubeError(thrown, call.tried, signal, 'NetworkError');
        const failure = error instanceof KubeError ? error : undefined;
        report(failure?.status, failure === undefined ? 'Aborted' : (failure.reason ?? 'Unknown'));
        throw error;
      }
      report(result.status, undefined);
      return result;
    });
  }
}

/** Why `signal` was aborted, if it was: our time limit or the caller's own reason. Else a KubeError. */
function toKubeError(error: unknown, tried: Tried, signal: AbortSignal, reason: ClientReason): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof KubeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const isMalformed = reason !== 'WatchBroken' && error instanceof MalformedAnswerError;
  return new KubeError({ tried, reason: isMalformed ? 'MalformedResponse' : reason, message, cause: error });
}
