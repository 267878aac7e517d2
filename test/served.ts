import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/**
 * What a server of a test does with each request. Whoever asks may end in the middle, such as a process that ends with its test: then nobody waits for the
 * answer, and that it fails is no failure. Whatever else fails is a rejection that nobody handles, and so fails the test.
 */
export function served(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): RequestListener {
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.destroyed) throw error;
    });
  };
}
