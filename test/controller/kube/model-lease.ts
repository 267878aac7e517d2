import { KubeError, type Kube, type Lease, type LeaseSpec } from '../../../controller/kube/index.ts';

/** One Lease as an API server keeps it: versions, preconditions, and faults on demand. */
export class ModelLease {
  lease: Lease | undefined;
  requests = 0;
  /** While set, requests fail with it or, for `hang`, wait for their signal. */
  fault: KubeError | 'hang' | undefined;
  /** The next write is carried out, but its answer is lost. */
  losesNextAnswer = false;
  #version = 1;
  #uids = 0;

  /** What one process sees; each can be cut off by itself. */
  client(): { readonly kube: Kube; fault: ModelLease['fault'] } {
    const link: { kube: Kube; fault: ModelLease['fault'] } = { kube: undefined as unknown as Kube, fault: undefined };
    const serve = async <R>(signal: AbortSignal | undefined, answer: () => R): Promise<R> => {
      this.requests += 1;
      await Promise.resolve();
      const fault = link.fault ?? this.fault;
      if (fault === 'hang')
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
      else if (fault !== undefined) throw fault;
      signal?.throwIfAborted();
      return answer();
    };
    link.kube = {
      get: (_: unknown, __: unknown, options?: { signal?: AbortSignal }) =>
        serve(options?.signal, () => this.lease ?? fail(404, 'NotFound', 'missing', 'x')),
      create: (object: Lease, options: { signal?: AbortSignal }) =>
        serve(options.signal, () => {
          if (this.lease !== undefined) fail(409, 'AlreadyExists', 'exists');
          this.#uids += 1;
          return this.#store({ ...object, metadata: { ...object.metadata, uid: `u${this.#uids}` } });
        }),
      patch: (
        _: unknown,
        __: unknown,
        { body }: { body: { metadata: Lease['metadata']; spec: LeaseSpec } },
        options: { signal?: AbortSignal },
      ) =>
        serve(options.signal, () => {
          if (this.lease === undefined) return fail(404, 'NotFound', 'missing', 'x');
          if (body.metadata.resourceVersion !== this.lease.metadata.resourceVersion)
            fail(409, 'Conflict', 'the object has been modified');
          return this.#store({ ...this.lease, spec: { ...this.lease.spec, ...body.spec } });
        }),
    } as unknown as Kube;
    return link;
  }

  #store(lease: Lease): Lease {
    this.#version += 1;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    if (!this.losesNextAnswer) return this.lease;
    this.losesNextAnswer = false;
    throw new KubeError({
      tried: { verb: 'patch', kind: 'Lease', object: 'x' },
      reason: 'NetworkError',
      message: 'other side closed',
    });
  }
}

function fail(status: number, reason: string, message: string, name?: string): never {
  throw new KubeError({
    tried: { verb: 'patch', kind: 'Lease', object: 'x' },
    status,
    reason,
    message,
    details: { name, causes: [] },
  });
}
