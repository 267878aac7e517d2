import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createAuthority } from '../../../cluster/certificates.ts';
import { served } from '../../../served.ts';
import type { Remote } from './remote.ts';

export interface HttpsServer {
  readonly url: string;
  /** PEM of the authority that its certificate is from. */
  readonly authority: string;
  /** What it takes, `user:password`; undefined: it lets nobody in. */
  login: string | undefined;
  /** Called for each request that is let in, while git waits for the answer. */
  onRequest: (request: IncomingMessage) => void;
  /** As long as this is true requests get no answer. */
  isHanging: boolean;
  /** Where requests are sent to instead of being answered. */
  redirect: string | undefined;
  /** What came as credentials, in the order of the requests. */
  readonly seen: (string | undefined)[];
}

/** A repository behind `git http-backend` and node's HTTPS server with Basic authentication, stopped with the test. */
export async function givenHttpsServer(context: TestContext, remote: Remote, login: string): Promise<HttpsServer> {
  const server = await serveHttps(remote.root, login);
  context.after(() => server.stop());
  remote.git('--git-dir', remote.path, 'config', 'http.receivepack', 'true');
  return server;
}

/** The same for all repositories in a folder. Its URL is that of `remote.git`. */
export async function serveHttps(
  root: string,
  login: string,
): Promise<HttpsServer & { readonly stop: () => Promise<void> }> {
  const authority = createAuthority('git test');
  const { certificate, key } = authority.issueServer({ commonName: 'localhost' }, ['localhost'], ['127.0.0.1']);
  const server = createServer({ cert: certificate, key }, served(answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const state: HttpsServer & { readonly stop: typeof stop } = {
    url: `https://localhost:${(server.address() as AddressInfo).port}/remote.git`,
    authority: authority.certificate,
    login,
    onRequest: () => undefined,
    isHanging: false,
    redirect: undefined,
    seen: [],
    stop,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers;
    const given = authorization && Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
    state.seen.push(given);
    if (state.isHanging) return;
    if (state.redirect !== undefined) {
      response.writeHead(302, { location: state.redirect + (request.url ?? '') }).end();
    } else if (given === undefined || given !== state.login) {
      // As a careless server would.
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"', 'Content-Type': 'text/plain' });
      response.end(`No entry for ${given ?? 'nobody'}\n`);
    } else {
      state.onRequest(request);
      await runBackend(request, response, root);
    }
  }
  return state;
}

/** Source: git-http-backend(1) and RFC 3875 */
async function runBackend(request: IncomingMessage, response: ServerResponse, root: string): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '', 'https://localhost');
  const headers = request.headers;
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      REMOTE_USER: 'plumbline',
    },
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  const output = Buffer.concat(chunks);
  const end = output.indexOf('\r\n\r\n');
  const lines = output.subarray(0, end).toString().split('\r\n');
  const fields = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
  const { Status = '200', ...rest } = Object.fromEntries(fields) as Record<string, string>;
  response.writeHead(Number(Status.split(' ')[0]), rest).end(output.subarray(end + 4));
}
