import { hash } from 'node:crypto';
import type { GitHubApp } from './github-app.ts';
import { requestToken, type InstallationToken } from './request-token.ts';

export interface InstallationTokensOptions {
  /** A wall clock. */
  readonly clock: { now(): number };
  readonly timeoutMs?: number;
}

/** A push that begins with a token ends before it does. */
const leastLeftMs = 5 * 60_000;

/** Tokens of GitHub Apps, each asked for when there is none that holds for some minutes yet. They are in memory alone. */
export class InstallationTokens {
  readonly #options: InstallationTokensOptions;
  readonly #tokens = new Map<string, InstallationToken>();

  constructor(options: InstallationTokensOptions) {
    this.#options = options;
  }

  /** @throws GitDeliveryError as `requestToken` */
  async tokenFor(app: GitHubApp): Promise<string> {
    const { clock, timeoutMs } = this.#options;
    const key = keyOf(app);
    const known = this.#tokens.get(key);
    if (known !== undefined && known.expiresAt - clock.now() > leastLeftMs) return known.token;
    this.#forgetExpired();
    const token = await requestToken(app, { now: clock.now(), timeoutMs });
    this.#tokens.set(key, token);
    return token.token;
  }

  /** A token that is not taken any more is of no use until it ends, since an App may be taken away, and given again, at any time. */
  forget(token: string): void {
    for (const [key, known] of this.#tokens) if (known.token === token) this.#tokens.delete(key);
  }

  #forgetExpired(): void {
    const now = this.#options.clock.now();
    for (const [key, { expiresAt }] of this.#tokens) if (expiresAt <= now) this.#tokens.delete(key);
  }
}

/** Another key, ID or repository is another token. Of what is secret there is a hash alone. */
function keyOf(app: GitHubApp): string {
  return hash('sha256', JSON.stringify(app), 'hex');
}
