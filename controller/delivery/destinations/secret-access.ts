import type { GitDestinationSpec } from '../../../constructs/api/git-destination/spec.ts';
import { isObjectMissing, type Kube, type KubeObject, type ResourceType } from '../../kube/index.ts';
import type { GitAccess } from '../git/access.ts';
import { defaultApiUrl, repositoryIn, type GitHubApp } from '../github-app/github-app.ts';
import { GitDeliveryError } from '../git/git-delivery-error.ts';

export interface SecretSource {
  readonly kube: Kube;
  /** Where the Secrets are: the controller's own namespace. */
  readonly namespace: string;
}

export const secrets: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

/** Tokens that GitHub Apps are given for their keys. */
export interface TokenSource {
  /** @throws GitDeliveryError */
  tokenFor(app: GitHubApp): Promise<string>;
}

/**
 * What a destination's Secrets hold. They are read anew each time: nothing of them is kept but the token that a GitHub App was given.
 * @throws GitDeliveryError SecretNotFound, and why GitHub gives no token; KubeError
 */
export async function readAccess(
  spec: GitDestinationSpec,
  source: SecretSource,
  tokens: TokenSource,
): Promise<GitAccess> {
  const { credentials, signingKey } = spec;
  const held = credentials === undefined ? undefined : await read(credentials.secretName, source);
  const signing = signingKey === undefined ? undefined : await read(signingKey.secretName, source);
  return {
    ...(held === undefined ? {} : await loginIn(held, spec, tokens)),
    ...(signing === undefined ? {} : { signingKey: signingKeyIn(signing) }),
  };
}

function signingKeyIn(secret: HeldSecret): NonNullable<GitAccess['signingKey']> {
  const openPgp = secret.get('pgp-privatekey');
  if (openPgp === undefined) return { kind: 'ssh', privateKey: secret.need('ssh-privatekey') };
  const passphrase = secret.get('pgp-passphrase');
  return { kind: 'openpgp', privateKey: openPgp, ...(passphrase === undefined ? {} : { passphrase }) };
}

async function loginIn(
  secret: HeldSecret,
  { url, credentials }: GitDestinationSpec,
  tokens: TokenSource,
): Promise<GitAccess> {
  if (!/^https?:/.test(url)) {
    const [privateKey, knownHosts] = [secret.need('ssh-privatekey'), secret.need('known_hosts')];
    return { login: { kind: 'ssh', privateKey, knownHosts } };
  }
  const certificateAuthority = secret.get('ca.crt');
  const app = credentials?.githubApp;
  const username = app === undefined ? secret.get('username') : appUsername;
  const password =
    app === undefined
      ? secret.need('password')
      : await tokens.tokenFor({
          ...app,
          apiUrl: (app.apiUrl ?? defaultApiUrl).replace(/\/$/, ''),
          privateKey: secret.need('private-key.pem'),
          repository: repositoryIn(url),
          certificateAuthority,
        });
  return {
    login: { kind: 'password', password, ...(username === undefined ? {} : { username }) },
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
  };
}

/** As whom git uses the token of a GitHub App. Source: GitHub's "Authenticating as a GitHub App installation" */
const appUsername = 'x-access-token';

interface HeldSecret {
  get(key: string): string | undefined;
  /** @throws GitDeliveryError SecretNotFound */
  need(key: string): string;
}

async function read(name: string, { kube, namespace }: SecretSource): Promise<HeldSecret> {
  const secret = await find(kube, { name, namespace });
  if (secret === undefined) throw missing(`Secret ${name} does not exist in the namespace ${namespace}: create it`);
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const get = (key: string): string | undefined => {
    const value = data[key];
    // Many an editor puts an end of line behind what is one line.
    return value === undefined
      ? undefined
      : Buffer.from(value, 'base64')
          .toString()
          .replace(/\r?\n$/, '');
  };
  const need = (key: string): string => {
    const value = get(key);
    if (value === undefined) throw missing(`Secret ${name} in the namespace ${namespace} lacks the key ${key}`);
    return value;
  };
  return { get, need };
}

async function find(kube: Kube, ref: { name: string; namespace: string }): Promise<KubeObject | undefined> {
  try {
    return await kube.get(secrets, ref);
  } catch (error) {
    if (isObjectMissing(error)) return undefined;
    throw error;
  }
}

function missing(what: string): GitDeliveryError {
  return new GitDeliveryError('SecretNotFound', `${what}. Nothing is delivered until then.`);
}
