import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { readKubeconfig, type Credentials } from './kubeconfig.ts';

/** The answer to one request, its body still text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends single requests as the user of a kubeconfig, each on a connection of its own. */
export class Admin {
  readonly #credentials: Credentials;

  /** @param kubeconfig path of a file that `kubeconfig()` wrote */
  constructor(kubeconfig: string) {
    this.#credentials = readKubeconfig(readFileSync(kubeconfig, 'utf8'));
  }

  /** @throws when there is no complete answer within thirty seconds. */
  send(method: string, url: string, body?: unknown): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request(
      url,
      {
        method,
        agent: false,
        ...this.#credentials,
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(30_000),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }
}
