import assert from 'node:assert/strict';
import { ask } from './endpoints/ask.ts';
import { MainProcess } from './main-process.ts';
import { parseExposition, type Scrape } from './metrics/exposition.ts';
import { eventually } from './running-plumbline.ts';

/** Whoever gets to the port may read the metrics. */
export const noAuth = ['--metrics-auth', 'none'];

/** The controller as a process that serves what others see of it. */
export class Observed implements AsyncDisposable {
  readonly main: MainProcess;

  private constructor(main: MainProcess) {
    this.main = main;
  }

  static async start(kubeconfig: string, namespace: string, ...flags: readonly string[]): Promise<Observed> {
    const scope = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--lease-namespace', namespace];
    const served = ['--health-address', '127.0.0.1:0', '--metrics-address', '127.0.0.1:0'];
    const main = new MainProcess([...scope, ...served, ...flags]);
    await main.says('metrics are served');
    return new Observed(main);
  }

  /** Such as `http://127.0.0.1:12345`. */
  url(of: 'health' | 'metrics', scheme = 'http'): string {
    const message = { health: 'health is served', metrics: 'metrics are served' }[of];
    const { port } = this.main.line(message);
    return `${scheme}://127.0.0.1:${String(port)}`;
  }

  async text(): Promise<string> {
    const { status, body } = await ask(`${this.url('metrics')}/metrics`);
    assert.equal(status, 200, body);
    return body;
  }

  async scrape(): Promise<Scrape> {
    return parseExposition(await this.text());
  }

  /** A scrape when nothing but the lease is asked for any more. */
  async atRest(): Promise<Scrape> {
    let before = -1;
    return eventually('the controller comes to rest', async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const scrape = await this.scrape();
      const now = requestsIn(scrape).length === 0 ? -1 : sum(requestsIn(scrape));
      const isSame = now === before;
      before = now;
      return isSame ? scrape : undefined;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.main[Symbol.asyncDispose]();
  }
}

/** What it asks for, but for the lease. */
export function requestsIn(scrape: Scrape): Scrape['samples'] {
  return scrape.all('plumbline_api_requests_total').filter(({ labels }) => labels['reason'] !== 'lease');
}

export function sum(samples: Scrape['samples']): number {
  return samples.reduce((sum, { value }) => sum + value, 0);
}
