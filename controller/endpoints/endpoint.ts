import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressInWords, type Address } from './address.ts';

/** A server that could not be started. The message says which, where and why. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

/** A server that listens. */
export interface Endpoint extends AsyncDisposable {
  readonly port: number;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Far more than scrapers and probes open: whoever opens more must not take all descriptors of the process. */
const mostConnections = 1_024;
/** A request has nothing but a line and headers. */
const slowestRequestMs = 10_000;
/** Whoever reads nothing for so long will not read the rest. */
const longestSilenceMs = 60_000;

/**
 * Starts a server.
 *
 * @param flag the flag that asked for it, for messages
 * @throws EndpointError where the address is taken, or none of this machine
 */
export async function listen(server: Server, address: Address, flag: string): Promise<Endpoint> {
  server.maxConnections = mostConnections;
  server.headersTimeout = slowestRequestMs;
  server.requestTimeout = slowestRequestMs;
  server.timeout = longestSilenceMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, address, flag)));
    server.listen({ host: address.host, port: address.port }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, close, [Symbol.asyncDispose]: close };
}

/** Has a handler answer GET and HEAD. What it throws is told to `onError` and answered with 500. */
export function answering(handler: Handler, onError: (error: unknown) => void): RequestListener {
  return (request, response) => {
    void answer(request, response);
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.method === 'GET' || request.method === 'HEAD') await handler(request, response);
      else say(response, 405, 'method not allowed\n', { allow: 'GET, HEAD' });
    } catch (error) {
      onError(error);
      // What has begun cannot be taken back: whoever reads it must not take it for whole.
      if (response.headersSent) response.destroy();
      else say(response, 500, 'internal error\n');
    }
  }
}

/** Answers with a text. */
export function say(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const always = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  response.writeHead(status, { ...always, ...headers });
  response.end(text);
}

function explain(error: Error, address: Address, flag: string): EndpointError {
  const code = codeOf(error);
  const why = reasons[code] ?? `cannot be listened on (${code})`;
  return new EndpointError(`${flag}: ${addressInWords(address)} ${why}`, { cause: error });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another process: end that, or choose another port',
  EACCES: 'may not be used by this user: choose a port above 1023',
  EADDRNOTAVAIL: 'is no address of this machine',
  ENOTFOUND: 'is a host name that is not known',
  EAI_AGAIN: 'is a host name that could not be resolved now',
};

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}
