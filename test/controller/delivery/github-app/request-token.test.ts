import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import type { GitHubApp } from '../../../../controller/delivery/github-app/github-app.ts';
import { repositoryIn } from '../../../../controller/delivery/github-app/github-app.ts';
import { InstallationTokens } from '../../../../controller/delivery/github-app/installation-tokens.ts';
import { requestToken } from '../../../../controller/delivery/github-app/request-token.ts';
import { givenGitHubServer, otherPrivateKey, type GitHubServer } from './github-server.ts';

const minuteMs = 60_000;
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const answering =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);

interface Row {
  readonly what: string;
  readonly app?: Partial<GitHubApp>;
  readonly given?: (server: GitHubServer) => void;
  /** What the controller's clock is ahead. */
  readonly aheadMs?: number;
  readonly reason: string;
  readonly says: RegExp;
}

const rows: readonly Row[] = [
  {
    what: 'a key of another App',
    app: { privateKey: otherPrivateKey },
    reason: 'GitHubKeyRefused',
    says: /answers 401 \(A JSON web token could not be decoded\): the private key is not, or no longer, one of the App Iv23liExample/,
  },
  { what: 'an App that there is not', app: { appId: '1' }, reason: 'GitHubKeyRefused', says: /one of the App 1\./ },
  {
    what: 'a clock that is two minutes ahead',
    aheadMs: 2 * minuteMs,
    reason: 'GitHubClockDiffers',
    says: /The controller's clock is 1\d\d s ahead of GitHub's: set it right/,
  },
  {
    what: 'a clock that is behind, so that the proof has expired',
    aheadMs: -20 * minuteMs,
    reason: 'GitHubClockDiffers',
    says: /'Expiration time' claim .* clock is 1[12]\d\d s behind GitHub's/,
  },
  {
    what: 'an installation that is not the App’s',
    app: { installationId: '1' },
    reason: 'GitHubInstallationNotFound',
    says: /answers 404 \(Not Found\)\. The App Iv23liExample has no installation 1:/,
  },
  {
    what: 'an installation that is suspended',
    given: (server) => void (server.isSuspended = true),
    reason: 'GitHubInstallationRefused',
    says: /answers 403 \(This installation has been suspended\)/,
  },
  {
    what: 'a repository that the installation does not include',
    app: { repository: 'other' },
    reason: 'GitHubInstallationRefused',
    says: /answers 422 .* has to include the repository other, and may write its contents/,
  },
  {
    what: 'too many requests',
    given: (server) => void (server.instead = answering(403, '{}', { 'retry-after': '60' })),
    reason: 'GitHubFailed',
    says: /answers 403: too many requests/,
  },
  {
    what: 'a server in trouble',
    given: (server) => void (server.instead = answering(502, '<html>Bad gateway</html>')),
    reason: 'GitHubFailed',
    says: /answers 502\. It is tried again/,
  },
  {
    what: 'an address that is no API',
    given: (server) => void (server.instead = answering(201, '<html>Welcome</html>')),
    reason: 'GitHubFailed',
    says: /answered without a token\. Check apiUrl/,
  },
  {
    what: 'a server that sends us elsewhere, where nobody follows',
    given: (server) => void (server.instead = answering(302, '', { location: 'https://elsewhere.invalid/' })),
    reason: 'GitHubFailed',
    says: /answers 302/,
  },
  {
    what: 'a server that hangs',
    given: (server) => void (server.instead = () => undefined),
    reason: 'GitHubTimedOut',
    says: /did not answer within 0\.5 s/,
  },
  {
    what: 'a server that breaks off',
    given: (server) => void (server.instead = (request) => void request.socket.destroy()),
    reason: 'GitHubUnreachable',
    says: /can't be reached \(.*\)\. Check apiUrl, the network and the proxy/,
  },
  {
    what: 'no server',
    app: { apiUrl: 'https://127.0.0.1:9' },
    reason: 'GitHubUnreachable',
    says: /^https:\/\/127\.0\.0\.1:9 can't be reached/,
  },
  {
    what: 'a certificate of an authority that nobody named',
    app: { certificateAuthority: undefined },
    reason: 'CertificateRefused',
    says: /Name the authority of its certificate in ca\.crt of the Secret/,
  },
  {
    what: 'a server that sends our proof back',
    given: (server) =>
      void (server.instead = (request, response) => {
        answering(500, JSON.stringify({ message: `bad ${request.headers.authorization}\n` }))(request, response);
      }),
    reason: 'GitHubFailed',
    says: /answers 500 \(bad Bearer \*\*\* \)/,
  },
  {
    what: 'a text that is no key',
    app: { privateKey: 'pass' },
    reason: 'AccessRefused',
    says: /no RSA key .* Nothing was sent/,
  },
  { what: 'a key of another kind', app: { privateKey: String(ecKey) }, reason: 'AccessRefused', says: /no RSA key/ },
];

describe('a GitHub App that is given no token says why', () => {
  for (const { what, app, given, aheadMs = 0, reason, says } of rows) {
    test(what, async (t) => {
      const server = await givenGitHubServer(t);
      given?.(server);
      const asked = requestToken(
        { ...server.app, ...app },
        { now: Date.now() + aheadMs, timeoutMs: reason === 'GitHubTimedOut' ? 500 : 60_000 },
      );
      await assert.rejects(asked, (error: Error & { reason?: string }) => {
        assert.equal(error.reason, reason, error.message);
        assert.match(error.message, says);
        const secrets = [...server.proofs, server.privateKey, otherPrivateKey].filter((one) => one !== '');
        for (const secret of secrets) assert.ok(!JSON.stringify([error.message, error.stack]).includes(secret));
        return true;
      });
      if (reason === 'AccessRefused') assert.deepEqual(server.proofs, []);
    });
  }
});

describe('the token of a GitHub App', () => {
  test('is asked for once, again shortly before it ends, and for another key or repository', async (t) => {
    const server = await givenGitHubServer(t);
    let aheadMs = 0;
    server.now = () => Date.now() + aheadMs;
    const tokens = new InstallationTokens({ clock: { now: server.now } });
    const first = await tokens.tokenFor(server.app);
    aheadMs = 54 * minuteMs;
    assert.equal(await tokens.tokenFor({ ...server.app }), first);
    aheadMs = 56 * minuteMs;
    const second = await tokens.tokenFor(server.app);
    assert.notEqual(second, first);
    assert.deepEqual(server.tokens, [first, second]);
    await assert.rejects(tokens.tokenFor({ ...server.app, repository: 'other' }));
    await assert.rejects(tokens.tokenFor({ ...server.app, privateKey: otherPrivateKey }));
  });

  test('is asked for again after it was not taken', async (t) => {
    const server = await givenGitHubServer(t);
    const tokens = new InstallationTokens({ clock: Date });
    const first = await tokens.tokenFor(server.app);
    tokens.forget('another one');
    assert.equal(await tokens.tokenFor(server.app), first);
    tokens.forget(first);
    assert.notEqual(await tokens.tokenFor(server.app), first);
  });

  test('is for the repository that the URL names', () => {
    for (const [url, name] of [
      ['https://github.com/team/databases.git', 'databases'],
      ['https://github.com/team/databases', 'databases'],
      ['https://github.example:8443/team/data.bases/', 'data.bases'],
    ] as const)
      assert.equal(repositoryIn(url), name);
  });
});
