import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAccess, defaultUsername, secretsOf, type GitAccess, type SshLogin } from './access.ts';

/** How git learns of what is secret: by the names of files, never by an argument or a value in its environment. */
export interface AccessRun {
  readonly variables: Readonly<Record<string, string>>;
  /** What no message may show. */
  readonly secrets: readonly string[];
}

/** Files that only we can read, there for as long as a git command needs them. Not for concurrent use. */
export class AccessFiles {
  readonly #folder: string;
  readonly #url: string;

  /** @param folder of its own; it is removed after each use */
  constructor(folder: string, url: string) {
    this.#folder = folder;
    this.#url = url;
  }

  /**
   * Resolves to what `use` resolves to.
   * @throws GitDeliveryError AccessRefused
   */
  async during<T>(access: GitAccess, use: (run: AccessRun) => Promise<T>): Promise<T> {
    checkAccess(this.#url, access);
    // What a process that was killed has left.
    await rm(this.#folder, { recursive: true, force: true });
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      return await use({ variables: await this.#variables(access), secrets: secretsOf(access) });
    } finally {
      await rm(this.#folder, { recursive: true, force: true });
    }
  }

  async #variables({ login, certificateAuthority, signingKey }: GitAccess): Promise<Record<string, string>> {
    const settings: [string, string][] = [];
    const variables: Record<string, string> = {};
    if (certificateAuthority !== undefined)
      variables['GIT_SSL_CAINFO'] = await this.#write('authority.pem', certificateAuthority);
    if (login?.kind === 'password') {
      const { username = defaultUsername, password } = login;
      const file = await this.#write('login', `username=${username}\npassword=${password}\n`);
      // Bound to the server: git asks no helper of ours on behalf of another one.
      settings.push([`credential.${new URL(this.#url).origin}.helper`, helper(file)]);
      // A server must not be able to send us, and the password, elsewhere.
      settings.push(['http.followRedirects', 'false']);
    }
    if (login?.kind === 'ssh') variables['GIT_SSH_COMMAND'] = await this.#sshCommand(login);
    // With an OpenPGP key git itself signs nothing.
    if (signingKey?.kind === 'ssh') {
      const file = await this.#writeKey('signing-key', signingKey.privateKey);
      settings.push(['gpg.format', 'ssh'], ['user.signingKey', file]);
    }
    return { ...variables, ...inEnvironment(settings) };
  }

  async #sshCommand({ privateKey, knownHosts }: SshLogin): Promise<string> {
    const key = await this.#writeKey('ssh-key', privateKey);
    const hosts = await this.#write('known_hosts', `${knownHosts.replaceAll('\r', '')}\n`);
    const options = [
      'BatchMode=yes',
      'StrictHostKeyChecking=yes',
      `UserKnownHostsFile=${sshPath(hosts)}`,
      'GlobalKnownHostsFile=/dev/null',
      'UpdateHostKeys=no',
      `IdentityFile=${sshPath(key)}`,
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      'ConnectTimeout=20',
      'ServerAliveInterval=15',
    ];
    // No file of the machine's: it could name a proxy, or another key.
    return ['ssh', '-F', '/dev/null', ...options.map((option) => `-o${option}`)].map(shellWord).join(' ');
  }

  /** A Secret often lacks the last end of line, without which OpenSSH reads no key. */
  #writeKey(name: string, key: string): Promise<string> {
    return this.#write(name, `${key.replaceAll('\r', '').trim()}\n`);
  }

  async #write(name: string, content: string): Promise<string> {
    const path = join(this.#folder, name);
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    return path;
  }
}

/** Answers git's question for credentials, and no request to store or erase them. */
function helper(file: string): string {
  return `!f() { test "$1" = get && cat ${shellWord(file)}; }; f`;
}

/** Settings that are in no file. */
function inEnvironment(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

/** ssh splits the values of its options at blanks and replaces `%h` and the like. */
function sshPath(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
