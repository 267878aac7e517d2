import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createAuthority } from '../../cluster/certificates.ts';
import { served } from '../../served.ts';
import type { Sandbox } from './sandbox.ts';

type Annotations = Readonly<Record<string, string | null>>;

interface Stored {
  readonly metadata: {
    readonly annotations: Readonly<Record<string, string>>;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
}

/** As much of the Kubernetes API as the scripts of a pod use: objects by name, read and annotated by merge patch. */
export class FakeApi implements Disposable {
  /** `configmaps/orders-patroni-config` → the object. */
  readonly objects = new Map<string, Stored>();
  /** What was asked for, such as `PATCH pods/orders-0`. */
  readonly requests: string[] = [];
  /** Answer this status to everything. */
  failWith: number | undefined;
  readonly #server: Server;
  #version = 1;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts it and mounts a service account for it. */
  static async start(sandbox: Sandbox): Promise<FakeApi> {
    const authority = createAuthority('test');
    const { certificate: cert, key } = authority.issueServer({ commonName: 'api' }, [], ['127.0.0.1']);
    const server = createServer({ cert, key });
    const api = new FakeApi(server);
    server.on(
      'request',
      served((request, response) => api.#answer(request, response)),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await promise;
    const address = server.address();
    sandbox.env['KUBERNETES_SERVICE_HOST'] = '127.0.0.1';
    sandbox.env['KUBERNETES_SERVICE_PORT'] = String(typeof address === 'object' && address ? address.port : 0);
    sandbox.write('account/ca.crt', authority.certificate);
    sandbox.write('account/token', 'the-token');
    sandbox.write('account/namespace', 'shop');
    return api;
  }

  put(path: string, annotations: Readonly<Record<string, string>> = {}): void {
    this.#version += 1;
    this.objects.set(path, { metadata: { annotations, resourceVersion: String(this.#version) } });
  }

  /** As a pod is while its containers end. */
  markDeleted(path: string): void {
    this.put(path, this.annotations(path));
    const { metadata } = this.objects.get(path) ?? {};
    if (metadata) this.objects.set(path, { metadata: { ...metadata, deletionTimestamp: '2027-01-01T00:00:00Z' } });
  }

  annotations(path: string): Readonly<Record<string, string>> {
    return this.objects.get(path)?.metadata.annotations ?? {};
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, body] = this.#handle(request, await text(request));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  #handle(request: IncomingMessage, body: string): readonly [number, unknown] {
    const [path = ''] = (request.url ?? '').replace('/api/v1/namespaces/shop/', '').split('?');
    this.requests.push(`${request.method} ${path}`);
    if (request.headers.authorization !== 'Bearer the-token') return [401, { message: 'Unauthorized' }];
    if (this.failWith !== undefined) return [this.failWith, { message: 'the server is ill' }];
    const found = this.objects.get(path);
    if (found === undefined) return [404, { message: 'not found' }];
    if (request.method === 'PATCH') {
      const { metadata } = JSON.parse(body) as { metadata: { annotations: Annotations; resourceVersion?: string } };
      const { resourceVersion } = metadata;
      if (resourceVersion && resourceVersion !== found.metadata.resourceVersion) return [409, { message: 'conflict' }];
      this.put(path, merged(found.metadata.annotations, metadata.annotations));
    }
    return [200, this.objects.get(path)];
  }
}

function merged(old: Readonly<Record<string, string>>, patch: Annotations): Record<string, string> {
  const result: Record<string, string> = { ...old };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = value;
  }
  return result;
}
