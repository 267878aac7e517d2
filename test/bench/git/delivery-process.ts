import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './deliverer.ts';
import type { Grounds } from './grounds.ts';

const module = fileURLToPath(new URL('deliverer.ts', import.meta.url));

/** As the controller's image starts Node. */
const execArgv = ['--max-semi-space-size=1', '--optimize-for-size'];

/** A controller's delivery to one repository. */
export class DeliveryProcess {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, PromiseWithResolvers<Report>>();
  #count = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (report: Report) => this.#asked.get(report.id)?.resolve(report));
    child.once('exit', (code) => {
      for (const { reject } of this.#asked.values()) reject(new Error(`the delivery ended with ${code}`));
    });
  }

  /** @param directory of its copy of the repository */
  static async start(grounds: Grounds, repository: string, directory: string): Promise<DeliveryProcess> {
    const { login, authorityFile, windowMs } = grounds;
    const args = [grounds.url(repository), login, authorityFile, directory, String(windowMs)];
    const child = fork(module, args, { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await once(child, 'message');
    return new DeliveryProcess(child);
  }

  /** Brings databases to a version. */
  change(indexes: readonly number[], version: number): Promise<Report> {
    const order: Order = { id: this.#count++, indexes, version };
    const asked = Promise.withResolvers<Report>();
    this.#asked.set(order.id, asked);
    this.#child.send(order);
    return asked.promise;
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }
}
