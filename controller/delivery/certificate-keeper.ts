import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { renewalTime } from '../certificates/lifetime.ts';
import { certificateSecrets, isGenerated } from '../database/certificates.ts';
import { childKey, type Child } from '../database/child.ts';
import type { Children } from '../database/children.ts';
import type { Clock, Kube } from '../kube/index.ts';
import { newCertificate, replaceValues } from './new-certificate.ts';

/** Renews certificates in place: the members take the new one without a restart. */
export class CertificateKeeper {
  readonly #kube: Kube;
  readonly #children: Children;
  readonly #clock: Clock;
  /** When what this process has renewed is due again, by the uid of the Secret. */
  readonly #renewed = new Map<string, number>();

  /** @param clock a wall clock */
  constructor(kube: Kube, children: Children, clock: Clock) {
    this.#kube = kube;
    this.#children = children;
    this.#clock = clock;
  }

  /**
   * Renews the certificate of a database if it is time, or if nothing says when it ends.
   *
   * @param made keys of the objects that are known to be the database's own
   * @returns when it is to be renewed, in milliseconds of the wall clock; undefined where there is none of ours
   * @throws KubeError
   */
  async keep(
    resource: StoredDatabaseService,
    made: readonly string[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    if (!isGenerated(resource)) return undefined;
    const { certificate, authority } = certificateSecrets(resource);
    const key = keyOfSecret(resource, certificate);
    const child = this.#children.get(key);
    const isOurs = [key, keyOfSecret(resource, authority)].every((one) => made.includes(one));
    if (!isOurs || child === undefined || child.isDeleting) return undefined;
    const now = this.#clock.now();
    const due = this.#dueTime(child);
    return due > now ? due : this.#renew(resource, child, now, signal);
  }

  async #renew(resource: StoredDatabaseService, child: Child, now: number, signal: AbortSignal): Promise<number> {
    const { secret, lifetime } = await newCertificate(this.#kube, resource, now, signal);
    const { name, namespace, uid, resourceVersion } = child;
    const metadata = { name, namespace, uid, resourceVersion };
    this.#children.upsert(await replaceValues(this.#kube, { metadata }, secret, signal));
    this.#renewed.set(uid, renewalTime(lifetime));
    return renewalTime(lifetime);
  }

  /** At once where nothing says when it ends; but once only, where a policy of the cluster takes away what we wrote. */
  #dueTime({ facts, uid }: Child): number {
    if (facts.kind === 'Secret' && facts.lifetime !== undefined) return renewalTime(facts.lifetime);
    return this.#renewed.get(uid) ?? -Infinity;
  }
}

function keyOfSecret({ metadata }: StoredDatabaseService, name: string): string {
  return childKey({ kind: 'Secret', metadata: { name, namespace: metadata.namespace } });
}
