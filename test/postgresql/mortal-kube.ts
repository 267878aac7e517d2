import type { Kube, KubeObject } from '../../controller/kube/index.ts';

/** A change that was made in the cluster, such as `delete Pod orders-2`. Statuses and Events are none: nothing is decided by them. */
export interface Write {
  readonly verb: 'apply' | 'create' | 'delete' | 'patch';
  readonly kind: string;
  readonly name: string;
}

export interface Mortality {
  /** Before a change is made. */
  readonly before: (write: Write) => Promise<void>;
  /** After a change was made, of which the controller never hears. */
  readonly onDeath: (write: Write) => void;
}

/** The API of a cluster for a controller that dies after its first change, before it has read the answer: nothing comes of it after that. */
export class MortalKube implements Kube {
  readonly #kube: Kube;
  readonly #mortality: Mortality;
  #isDead = false;

  constructor(kube: Kube, mortality: Mortality) {
    this.#kube = kube;
    this.#mortality = mortality;
  }

  get: Kube['get'] = (...args) => this.#living(() => this.#kube.get(...args));
  raw: Kube['raw'] = (...args) => this.#living(() => this.#kube.raw(...args));
  list: Kube['list'] = (...args) => this.#kube.list(...args);
  watch: Kube['watch'] = (...args) => this.#kube.watch(...args);

  apply: Kube['apply'] = (object, options) => {
    const act = () => this.#kube.apply(object, options);
    const isNoStep = options.dryRun === true || options.subresource === 'status';
    return isNoStep ? this.#living(act) : this.#last({ verb: 'apply', ...named(object) }, act);
  };

  create: Kube['create'] = (object, options) => {
    const act = () => this.#kube.create(object, options);
    const isNoStep = options.dryRun === true || object.kind === 'Event';
    return isNoStep ? this.#living(act) : this.#last({ verb: 'create', ...named(object) }, act);
  };

  delete: Kube['delete'] = (type, ref, options) =>
    this.#last({ verb: 'delete', kind: type.kind, name: ref.name }, () => this.#kube.delete(type, ref, options));

  patch: Kube['patch'] = (type, ref, patch, options) => {
    const act = () => this.#kube.patch(type, ref, patch, options);
    return type.kind === 'Event'
      ? this.#living(act)
      : this.#last({ verb: 'patch', kind: type.kind, name: ref.name }, act);
  };

  async #living<T>(act: () => Promise<T>): Promise<T> {
    if (this.#isDead) throw new Error('the controller is dead');
    return act();
  }

  async #last<T>(write: Write, act: () => Promise<T>): Promise<T> {
    return this.#living(async () => {
      await this.#mortality.before(write);
      await this.#living(act);
      this.#isDead = true;
      this.#mortality.onDeath(write);
      throw new Error('the controller is dead');
    });
  }
}

function named({ kind, metadata }: KubeObject): Pick<Write, 'kind' | 'name'> {
  return { kind, name: metadata.name };
}
