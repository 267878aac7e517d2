import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { say, type Handler } from './endpoint.ts';
import type { Gate } from './gate.ts';

/** What is served. */
export interface MetricsText {
  readonly contentType: string;
  /** In parts, between which other things get their turn. */
  text(): AsyncIterable<string>;
}

/** Serves metrics at `/metrics`. @param gate who may read them; undefined: everybody who gets here */
export function metricsHandler(metrics: MetricsText, gate?: Gate): Handler {
  return async (request, response) => {
    if (pathOf(request) !== metricsPath) return say(response, 404, 'not found\n');
    const refusal = await gate?.(request.headers.authorization);
    if (refusal !== undefined) return say(response, refusal.status, `${refusal.message}\n`, refusal.headers);
    return send(request, response, metrics);
  };
}

export const metricsPath = '/metrics';

async function send(request: IncomingMessage, response: ServerResponse, metrics: MetricsText): Promise<void> {
  const isZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  response.writeHead(200, {
    'content-type': metrics.contentType,
    'x-content-type-options': 'nosniff',
    ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const text = Readable.from(metrics.text(), { objectMode: false });
  // Best speed: there is a scrape every few seconds, over a network that is near.
  if (isZipped) await pipeline(text, createGzip({ level: constants.Z_BEST_SPEED }), response);
  else await pipeline(text, response);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
