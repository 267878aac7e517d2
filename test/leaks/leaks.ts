import type { Cluster } from '../cluster/index.ts';
import { Lookout } from './lookout.ts';
import type { Mark } from './mark.ts';
import { writtenWith } from './written.ts';

const secrets = '/registry/secrets/';

/**
 * Looks for passwords while a cluster lives, in whatever its tests do: what is written into etcd, such as status, Events and ConfigMaps, the logs of all its
 * parts and containers, and the arguments of processes. They belong into Secrets alone.
 */
export class Leaks implements Disposable {
  readonly #mark: Mark;
  readonly #folder: string;
  readonly #lookout: Lookout;

  constructor(mark: Mark, { folder }: Pick<Cluster, 'folder'>) {
    this.#mark = mark;
    this.#folder = folder;
    this.#lookout = new Lookout(mark, folder);
  }

  /** It looks by itself several times a second. */
  lookNow(): void {
    this.#lookout.look();
  }

  /** Each place once. */
  places(): readonly string[] {
    this.#lookout.look();
    const written = [...writtenWith(this.#mark, this.#folder)].filter((key) => !key.startsWith(secrets));
    return [...this.#lookout.seen, ...written];
  }

  /** Secrets in which a password was written: that there are some says that this would see one. */
  secrets(): readonly string[] {
    return [...writtenWith(this.#mark, this.#folder)].filter((key) => key.startsWith(secrets));
  }

  [Symbol.dispose](): void {
    this.#lookout[Symbol.dispose]();
  }
}
