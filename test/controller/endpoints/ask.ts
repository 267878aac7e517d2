import { request as requestHttp, type IncomingHttpHeaders } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** PEM fingerprint of the server's certificate; undefined without TLS. */
  readonly certificate: string | undefined;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whom a certificate is to be of. Defaults to anybody: it may be self-signed. */
  readonly ca?: string;
}

/** One request on a connection of its own. */
export async function ask(url: string, { method = 'GET', headers = {}, ca }: AskOptions = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const isSecure = url.startsWith('https:');
  const options = { method, headers, agent: false as const };
  const request = isSecure
    ? requestHttps(url, { ...options, ca, rejectUnauthorized: ca !== undefined })
    : requestHttp(url, options);
  request.on('error', reject);
  request.on('response', (response) => {
    const socket = response.socket as {
      getPeerX509Certificate?: () => { readonly fingerprint256: string } | undefined;
    };
    const certificate = socket.getPeerX509Certificate?.()?.fingerprint256;
    const body = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
    text(body).then(
      (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body, certificate }),
      reject,
    );
  });
  request.end();
  return promise;
}
