import { pause, type Clock } from './clock.ts';

/** Aborts its signal when nothing has been heard for a time, or when its parent is aborted. */
export class SilenceAlarm {
  readonly #controller = new AbortController();
  readonly #stop = new AbortController();
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #parent: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);
  #heardAt: number;
  #isSilent = false;

  constructor(clock: Clock, silenceMs: number, parent: AbortSignal) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#parent = parent;
    this.#heardAt = clock.now();
    if (parent.aborted) this.#follow();
    else parent.addEventListener('abort', this.#follow, { once: true });
    void this.#listen();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was silence that aborted the signal. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Cheap enough for each event: no timer is set anew. */
  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  stop(): void {
    this.#stop.abort();
    this.#parent.removeEventListener('abort', this.#follow);
  }

  async #listen(): Promise<void> {
    let leftMs = this.#silenceMs;
    while (leftMs > 0) {
      if (!(await pause(this.#clock, leftMs, this.#stop.signal))) return;
      leftMs = this.#heardAt + this.#silenceMs - this.#clock.now();
    }
    this.#isSilent = true;
    this.#controller.abort(new Error(`nothing was heard for ${this.#silenceMs / 1000} s`));
  }
}
