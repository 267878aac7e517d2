import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface NewKey {
  /** As gpg names it: `sign`, `encr`. Defaults to `sign`. */
  readonly usage?: string;
  /** Defaults to `never`. */
  readonly expires?: string;
  /** When it is made, as gpg writes times. Defaults to now. */
  readonly at?: string;
  /** Defaults to none. */
  readonly passphrase?: string;
}

/** A person's GnuPG, in a folder of the test; its agent ends with the test. */
export class OpenPgpKeys {
  readonly #home: string;

  constructor(context: TestContext, root: string) {
    // Its sockets need a short path.
    this.#home = join(root, 'pgp');
    mkdirSync(this.#home, { mode: 0o700 });
    // Otherwise a passphrase takes seconds.
    writeFileSync(join(this.#home, 'gpg-agent.conf'), 's2k-count 65536\n');
    context.after(() => execFileSync('gpgconf', ['--kill', 'all'], { env: this.environment }));
  }

  /** For a git that verifies with these keys. */
  get environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.#home, GNUPGHOME: this.#home, LC_ALL: 'C' };
  }

  /** The private key in its armour. */
  make(name: string, { usage = 'sign', expires = 'never', at, passphrase = '' }: NewKey = {}): string {
    const time = at === undefined ? [] : ['--faked-system-time', at];
    const locked = ['--pinentry-mode', 'loopback', '--passphrase', passphrase];
    const algorithm = usage === 'encr' ? 'rsa2048' : 'ed25519';
    const person = `${name} <${name}@example.org>`;
    this.gpg(...time, ...locked, '--quick-generate-key', person, algorithm, usage, expires);
    return this.gpg(...locked, '--armor', '--export-secret-keys', `${name}@example.org`);
  }

  fingerprint(name: string): string {
    const listed = this.gpg('--with-colons', '--list-keys', `${name}@example.org`);
    return /^fpr:+([0-9A-F]+):/m.exec(listed)?.[1] ?? '';
  }

  gpg(...args: string[]): string {
    const quiet = ['--batch', '--no-tty', '--quiet'];
    return execFileSync('gpg', [...quiet, ...args], { env: this.environment, encoding: 'utf8', stdio: 'pipe' });
  }
}
