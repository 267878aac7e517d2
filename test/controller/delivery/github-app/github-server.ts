import { generateKeyPairSync, randomBytes, verify, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { GitHubApp } from '../../../../controller/delivery/github-app/github-app.ts';
import { createAuthority } from '../../../cluster/certificates.ts';
import { served } from '../../../served.ts';

const clientId = 'Iv23liExample';
const installation = '7654321';
const repository = 'remote';

export interface GitHubServer {
  /** With the key, the IDs and the authority that it takes. */
  readonly app: GitHubApp;
  readonly privateKey: string;
  /** What it has handed out. */
  readonly tokens: readonly string[];
  /** What it was asked with. */
  readonly proofs: readonly string[];
  /** Milliseconds of its clock. Defaults to the machine's. */
  now: () => number;
  isSuspended: boolean;
  /** Answers instead. Defaults to nothing. */
  instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  onToken: (token: string) => void;
}

/** RSA keys as GitHub hands them out, which are made once: that takes long. */
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs1', format: 'pem' }).toString();

export const otherPrivateKey = pemOf(otherKeys.privateKey);

/**
 * What GitHub documents of the tokens of installations, and nothing else of it: it checks the signature, the times and the issuer of the proof, the
 * installation, the repository and the permission.
 * Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
 */
export async function givenGitHubServer(context: TestContext): Promise<GitHubServer> {
  const authority = createAuthority('github test');
  const { certificate, key } = authority.issueServer({ commonName: 'localhost' }, ['localhost'], ['127.0.0.1']);
  const server = createServer({ cert: certificate, key }, served(answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const tokens: string[] = [];
  const proofs: string[] = [];
  const privateKey = pemOf(keys.privateKey);
  const state: GitHubServer = {
    app: {
      appId: clientId,
      installationId: installation,
      privateKey,
      apiUrl: `https://localhost:${(server.address() as AddressInfo).port}/api/v3`,
      repository,
      certificateAuthority: authority.certificate,
    },
    privateKey,
    tokens,
    proofs,
    now: () => Date.now(),
    isSuspended: false,
    instead: undefined,
    onToken: () => undefined,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const proof = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    proofs.push(proof);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.setHeader('date', new Date(state.now()).toUTCString());
    if (state.instead !== undefined) return state.instead(request, response);
    const say = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const wrong = problemOf(proof, state.now());
    if (wrong !== undefined) return say(401, { message: wrong });
    if (request.method !== 'POST' || request.url !== `/api/v3/app/installations/${installation}/access_tokens`)
      return say(404, { message: 'Not Found' });
    if (state.isSuspended) return say(403, { message: 'This installation has been suspended' });
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as { repositories: string[]; permissions: object };
    if (asked.repositories.join() !== repository || JSON.stringify(asked.permissions) !== '{"contents":"write"}')
      return say(422, { message: 'There is at least one repository that does not exist or is not accessible.' });
    // Of the later form, which is longer.
    const token = `ghs_${clientId}_${randomBytes(180).toString('base64url')}`;
    tokens.push(token);
    state.onToken(token);
    say(201, { token, expires_at: new Date(state.now() + 3_600_000).toISOString(), permissions: asked.permissions });
  }
  return state;
}

/** What is wrong with a proof, in GitHub's words. */
function problemOf(proof: string, now: number): string | undefined {
  const [header = '', claims = '', signature = ''] = proof.split('.');
  const undecodable = 'A JSON web token could not be decoded';
  const { alg } = parsed(header);
  const { iss, iat, exp } = parsed(claims);
  if (alg !== 'RS256' || iss !== clientId) return undecodable;
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${claims}`),
    keys.publicKey,
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned) return undecodable;
  const seconds = now / 1000;
  if (!Number.isInteger(iat) || (iat as number) > seconds)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  if (!Number.isInteger(exp) || (exp as number) <= seconds)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  return (exp as number) > seconds + 600 ? "'Expiration time' claim ('exp') is too far in the future" : undefined;
}

function parsed(part: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(part, 'base64url').toString() || '{}') as Readonly<Record<string, unknown>>;
}
