import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { GitDeliveryError } from '../git/git-delivery-error.ts';

/** Against clocks that are a little ahead, as GitHub advises. */
const issuedBeforeSeconds = 60;
/** GitHub takes none that ends more than 10 minutes ahead of its own clock. */
const validSeconds = 540;

/**
 * What a GitHub App proves with who it is. The header and claims, and RS256, are GitHub's:
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 *
 * @param now milliseconds of the wall clock
 * @throws GitDeliveryError AccessRefused, without a word of the key
 */
export function appJwt(privateKey: string, appId: string, now: number): string {
  const key = readKey(privateKey);
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - issuedBeforeSeconds, exp: seconds + validSeconds, iss: appId };
  const signed = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => encoded(JSON.stringify(part))).join('.');
  return `${signed}.${encoded(sign('RSA-SHA256', Buffer.from(signed), key))}`;
}

function readKey(pem: string): KeyObject {
  const key = parsed(pem);
  if (key?.asymmetricKeyType === 'rsa') return key;
  const message = 'The key of the GitHub App is no RSA key as GitHub hands it out (PEM). Nothing was sent to GitHub.';
  throw new GitDeliveryError('AccessRefused', message);
}

function parsed(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // Its words may quote the key.
    return undefined;
  }
}

function encoded(part: string | Buffer): string {
  return Buffer.from(part).toString('base64url');
}
