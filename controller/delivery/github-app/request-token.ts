import { EnvHttpProxyAgent, request, type Dispatcher } from 'undici';
import { GitDeliveryError } from '../git/git-delivery-error.ts';
import { parseAnswer } from '../../kube/answer.ts';
import { isRecord } from '../../kube/kube-error.ts';
import { appJwt } from './app-jwt.ts';
import type { GitHubApp } from './github-app.ts';

export interface InstallationToken {
  /** Of whatever form: GitHub has changed it before. */
  readonly token: string;
  /** Milliseconds of the wall clock. */
  readonly expiresAt: number;
}

export interface TokenRequest {
  /** Milliseconds of the wall clock. */
  readonly now: number;
  /** Defaults to 20 s. */
  readonly timeoutMs?: number | undefined;
}

/** What a token is used for is pushes; the App may be allowed more. */
const permissions = { contents: 'write' };
/** GitHub refuses a JWT from a clock that is a minute ahead; a response takes its time too. */
const tolerableSkewMs = 50_000;
const longestWords = 200;
const longestToken = 8192;

/**
 * Asks for a token that lets git into one repository for an hour:
 * https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
 *
 * @throws GitDeliveryError AccessRefused, CertificateRefused, or one of those that begin with GitHub; none has a word of the key or of a token
 */
export async function requestToken(
  app: GitHubApp,
  { now, timeoutMs = 20_000 }: TokenRequest,
): Promise<InstallationToken> {
  const jwt = appJwt(app.privateKey, app.appId, now);
  const ca = app.certificateAuthority;
  const tls = ca === undefined ? {} : { connect: { ca }, requestTls: { ca } };
  const dispatcher = new EnvHttpProxyAgent(tls);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await request(
      `${app.apiUrl}/app/installations/${encodeURIComponent(app.installationId)}/access_tokens`,
      {
        dispatcher,
        signal,
        method: 'POST',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${jwt}`,
          'content-type': 'application/json',
          'user-agent': 'plumbline',
          'x-github-api-version': '2022-11-28',
        },
        body: JSON.stringify({ repositories: [app.repository], permissions }),
      },
    );
    const body = parseAnswer(await response.body.text());
    if (response.statusCode === 201) return tokenIn(body, app);
    throw refusal(response, wordsOf(body, jwt), app, now);
  } catch (error) {
    throw error instanceof GitDeliveryError ? error : unanswered(error, app, timeoutMs);
  } finally {
    await dispatcher.destroy();
  }
}

function tokenIn(body: unknown, { apiUrl }: GitHubApp): InstallationToken {
  const { token, expires_at: end } = fieldsOf(body);
  const expiresAt = typeof end === 'string' ? Date.parse(end) : NaN;
  const isToken = typeof token === 'string' && token.length <= longestToken && /^[!-~]+$/.test(token);
  if (isToken && Number.isFinite(expiresAt)) return { token, expiresAt };
  const advice = 'Check apiUrl: of GitHub Enterprise Server it ends with /api/v3.';
  throw new GitDeliveryError('GitHubFailed', `${apiUrl} answered without a token. ${advice}`);
}

function refusal(
  { statusCode, headers }: Dispatcher.ResponseData,
  words: string,
  { apiUrl, appId, installationId, repository }: GitHubApp,
  now: number,
): GitDeliveryError {
  const said = `${apiUrl} answers ${statusCode}${words === '' ? '' : ` (${words})`}`;
  const skewMs = now - Date.parse(String(headers.date));
  switch (statusCode) {
    case 401:
      if (Math.abs(skewMs) >= tolerableSkewMs) {
        const seconds = Math.round(Math.abs(skewMs) / 1000);
        const clock = `The controller's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} GitHub's`;
        return new GitDeliveryError('GitHubClockDiffers', `${said}. ${clock}: set it right.`);
      }
      return new GitDeliveryError(
        'GitHubKeyRefused',
        `${said}: the private key is not, or no longer, one of the App ${appId}.`,
      );
    case 404: {
      const advice = `The App ${appId} has no installation ${installationId}: see the URL of its settings where it is installed.`;
      return new GitDeliveryError('GitHubInstallationNotFound', `${said}. ${advice}`);
    }
    case 403:
    case 422: {
      const isLimit = headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0';
      if (isLimit) return new GitDeliveryError('GitHubFailed', `${said}: too many requests. It is tried again.`);
      const advice = `The installation ${installationId} must not be suspended, has to include the repository ${repository}, and may write its contents.`;
      return new GitDeliveryError('GitHubInstallationRefused', `${said}. ${advice}`);
    }
    default:
      return new GitDeliveryError('GitHubFailed', `${said}. It is tried again.`);
  }
}

function unanswered(error: unknown, { apiUrl }: GitHubApp, timeoutMs: number): GitDeliveryError {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new GitDeliveryError(
      'GitHubTimedOut',
      `${apiUrl} did not answer within ${timeoutMs / 1000} s. It is tried again.`,
    );
  }
  const { code, message } = fieldsOf(error);
  const words = `${apiUrl} can't be reached (${String(message).slice(0, longestWords)})`;
  if (/CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(String(code))) {
    return new GitDeliveryError(
      'CertificateRefused',
      `${words}. Name the authority of its certificate in ca.crt of the Secret.`,
    );
  }
  return new GitDeliveryError('GitHubUnreachable', `${words}. Check apiUrl, the network and the proxy.`);
}

/** What the server says, which might send our own proof back. */
function wordsOf(body: unknown, jwt: string): string {
  const { message } = fieldsOf(body);
  if (typeof message !== 'string') return '';
  return message
    .replaceAll(jwt, '***')
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, longestWords);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
