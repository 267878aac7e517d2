import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, KubeClient, type Connection, type KubeClientOptions } from '../../../controller/kube/index.ts';
import { served } from '../../served.ts';
import { discardFolder } from '../../discard-folder.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

/** A small API server whose answers a test writes. */
export class ScriptedServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly folder: string;
  readonly url: string;
  /** Connections that were ever opened. */
  connections = 0;
  script: Script;
  readonly #server: Server;

  constructor(server: Server, folder: string, url: string, script: Script) {
    this.#server = server;
    this.folder = folder;
    this.url = url;
    this.script = script;
    server.on(
      'request',
      served((request, response) => this.#answer(request, response)),
    );
    server.on('connection', () => (this.connections += 1));
  }

  /** @param host address to listen on; with `tls` it speaks https. */
  static async start(script: Script, host = '127.0.0.1', tls?: ServerOptions, wantedPort = 0): Promise<ScriptedServer> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wantedPort, host, resolve);
    });
    const { port } = server.address() as AddressInfo;
    const scheme = tls === undefined ? 'http' : 'https';
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-kube-'));
    const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return new ScriptedServer(server, folder, url, script);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const seen = { method: request.method ?? '', url, headers: request.headers, body: await text(request) };
    this.requests.push(seen);
    await this.script(seen, response);
  }

  /** Writes a kubeconfig for this server and returns its path. */
  async kubeconfig(user: object = {}, cluster: object = {}): Promise<string> {
    const path = join(this.folder, 'kubeconfig');
    await writeFile(path, JSON.stringify(kubeconfigFor(this.url, user, cluster)));
    return path;
  }

  async connect(): Promise<Connection> {
    return connect({ kubeconfig: await this.kubeconfig(), check: false });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async stopListening(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async stop(): Promise<void> {
    await this.stopListening();
    discardFolder(this.folder);
  }
}

export function kubeconfigFor(server: string, user: object = {}, cluster: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, ...cluster } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }],
    users: [{ name: 'test', user }],
  };
}

/** Runs `body` with a client of a scripted server; all is closed afterwards. */
export async function withClient(
  script: Script,
  body: (kube: KubeClient, server: ScriptedServer) => Promise<void>,
  options: KubeClientOptions = {},
): Promise<void> {
  const server = await ScriptedServer.start(script);
  const connection = await server.connect();
  try {
    await body(new KubeClient(connection, options), server);
  } finally {
    await connection.close();
    await server.stop();
  }
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
