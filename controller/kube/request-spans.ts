import { SpanKind, SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api';
import { tracer } from '../tracer.ts';
import { KubeError } from './kube-error.ts';
import type { RequestFacts } from './kube.ts';
import type { ResourceType } from './resource.ts';
import { urlTemplate } from './url-template.ts';

/** What a span tells of a request. */
export interface Requested {
  readonly verb: RequestFacts['verb'];
  readonly type?: ResourceType | undefined;
  readonly method: string;
  readonly path: string;
}

/**
 * A span for each request, a child of the run that it is made for. It tells where the request went and how it was answered; no header, no body and no
 * message of the server is in it. Names are those of OpenTelemetry for clients of HTTP and, where it has none, `plumbline.*`.
 * Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client
 */
export class RequestSpans {
  readonly #server: string;
  readonly #fixed: Attributes;

  /** @param server URL of the API server @param reason why all of these requests are made; absent where nobody says */
  constructor(server: string, reason: string | undefined) {
    this.#server = server;
    const { hostname = '', port = '', protocol = '' } = URL.parse(server) ?? {};
    this.#fixed = {
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
      ...(reason === undefined ? {} : { 'plumbline.request.reason': reason }),
    };
  }

  /** @throws what `send` throws */
  around<R extends { readonly status: number }>(
    { verb, type, method, path }: Requested,
    send: () => Promise<R>,
  ): Promise<R> {
    const template = urlTemplate(type, path);
    // All at the start, since a sampler sees no others.
    const attributes = {
      ...this.#fixed,
      'http.request.method': method,
      'url.full': this.#server + path,
      'url.template': template,
      'plumbline.request.verb': verb,
    };
    return tracer().startActiveSpan(`${method} ${template}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        const result = await send();
        span.setAttribute('http.response.status_code', result.status);
        return result;
      } catch (error) {
        failed(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  }
}

function failed(span: Span, error: unknown): void {
  const { status, reason } = error instanceof KubeError ? error : { status: undefined, reason: 'Aborted' };
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  span.setAttribute('error.type', status === undefined ? (reason ?? 'Unknown') : String(status));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
