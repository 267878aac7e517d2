/** How long to wait after failures in a row. */
export interface BackoffOptions {
  /** First delay in milliseconds. Defaults to 800. */
  readonly initialMs?: number;
  /** Each further delay is this many times the one before. Defaults to 2. */
  readonly factor?: number;
  /** No delay is longer, before jitter. Defaults to 30,000 milliseconds. */
  readonly maxMs?: number;
  /** Each delay is lengthened by up to this share of itself, so that many clients do not come back together. Defaults to 0.5. */
  readonly jitter?: number;
  /** Numbers in [0, 1). Defaults to `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** Exponential back-off; the defaults are those of client-go's reflector (tools/cache/reflector.go) and kube-rs. */
export class Backoff {
  readonly #initialMs: number;
  readonly #factor: number;
  readonly #maxMs: number;
  readonly #jitter: number;
  readonly #random: () => number;
  #nextMs: number;

  constructor(options: BackoffOptions = {}) {
    this.#initialMs = options.initialMs ?? 800;
    this.#factor = options.factor ?? 2;
    this.#maxMs = options.maxMs ?? 30_000;
    this.#jitter = options.jitter ?? 0.5;
    this.#random = options.random ?? Math.random;
    this.#nextMs = this.#initialMs;
  }

  /** @returns milliseconds to wait now; the next answer is longer. */
  next(): number {
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * this.#factor, this.#maxMs);
    return delayMs * (1 + this.#jitter * this.#random());
  }

  reset(): void {
    this.#nextMs = this.#initialMs;
  }
}
