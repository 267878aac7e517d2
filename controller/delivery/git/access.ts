import { GitDeliveryError } from './git-delivery-error.ts';

/** A token counts as a password. */
export interface PasswordLogin {
  readonly kind: 'password';
  /** Most servers take any name beside a token. Defaults to `git`. */
  readonly username?: string;
  readonly password: string;
}

export interface SshLogin {
  readonly kind: 'ssh';
  /** As `ssh-keygen` writes it, without a passphrase. */
  readonly privateKey: string;
  /** Lines of a known_hosts file. No other server is talked to. */
  readonly knownHosts: string;
}

/** An SSH key, as `ssh-keygen` writes it, without a passphrase. */
export interface SshSigningKey {
  readonly kind: 'ssh';
  readonly privateKey: string;
}

export interface OpenPgpKey {
  readonly kind: 'openpgp';
  /** As `gpg --armor --export-secret-keys` writes it. */
  readonly privateKey: string;
  /** Defaults to none. */
  readonly passphrase?: string;
}

/** What a repository lets Plumbline in by, and what its commits are signed with. */
export interface GitAccess {
  /** Defaults to what the environment has: an SSH agent, or nothing. */
  readonly login?: PasswordLogin | SshLogin;
  /** PEM of the authorities that the server's certificate may come from. Defaults to the machine's. */
  readonly certificateAuthority?: string;
  /** What commits are signed with. Defaults to nothing. */
  readonly signingKey?: SshSigningKey | OpenPgpKey;
}

/**
 * Refuses access that does not fit the URL, or that git could not be told of.
 * @throws GitDeliveryError AccessRefused, without a word of what is secret
 */
export function checkAccess(url: string, { login, signingKey }: GitAccess): void {
  if (signingKey !== undefined) checkSigningKey(signingKey);
  switch (login?.kind) {
    case undefined:
      return;
    case 'password':
      if (!url.startsWith('https://')) throw refused('A password or token goes with a URL that begins with https://');
      checkLine(login.username ?? defaultUsername, 'user name');
      checkLine(login.password, 'password');
      return;
    case 'ssh':
      if (url.startsWith('/') || /^(https?|file):/.test(url)) throw refused('An SSH key goes with a URL of ssh');
      checkKey(login.privateKey, 'SSH key');
      if (!/^[^#\s]\S*\s+\S+\s+\S/m.test(login.knownHosts))
        throw refused(
          'known_hosts has no line, so any server could pose as the repository: write what ssh-keyscan says',
        );
      return;
  }
}

export const defaultUsername = 'git';

/** What no message may show. */
export function secretsOf({ login, signingKey }: GitAccess): readonly string[] {
  const passphrase = signingKey?.kind === 'openpgp' ? signingKey.passphrase : undefined;
  const loggedInBy = login?.kind === 'password' ? login.password : login?.privateKey;
  const secrets = [loggedInBy, signingKey?.privateKey, passphrase];
  return secrets.flatMap((secret = '') => (secret.trim() === '' ? [] : [secret.trim()]));
}

/** git's own protocol for credentials has a line for each value. */
function checkLine(text: string, what: string): void {
  if (text === '') throw refused(`The ${what} is empty`);
  if (/[\n\r\0]/.test(text)) throw refused(`The ${what} has an end of line in it`);
}

function checkSigningKey(key: SshSigningKey | OpenPgpKey): void {
  const { privateKey } = key;
  if (key.kind === 'ssh') return checkKey(privateKey, 'signing key');
  if (key.passphrase !== undefined) checkLine(key.passphrase, 'passphrase');
  const block = /^-----BEGIN PGP PRIVATE KEY BLOCK-----\s[^]*-----END PGP PRIVATE KEY BLOCK-----\s*$/;
  if (block.test(privateKey.trimStart())) return;
  throw refused('The signing key is no private key as gpg --armor --export-secret-keys writes it');
}

function checkKey(key: string, what: string): void {
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----\s[^]*-----END [A-Z ]*PRIVATE KEY-----\s*$/.test(key.trimStart())) return;
  throw refused(`The ${what} is no private key as ssh-keygen writes it`);
}

function refused(what: string): GitDeliveryError {
  return new GitDeliveryError('AccessRefused', `${what}. Nothing was sent to the Git server.`);
}
