import { styleText } from 'node:util';

/** What `--json` prints at the end. */
export interface Summary {
  readonly objects: number;
  readonly applyMs: number;
  readonly drift: readonly {
    readonly object: string;
    readonly field: string;
    readonly was: string | null;
    readonly now: string | null;
    readonly manager: string;
    readonly repairMs: number;
  }[];
  readonly commit: string;
  readonly identical: boolean;
  /** What PostgreSQL says it is; with `--node` only. */
  readonly version?: string;
}

/** Tells a person what happens: numbered steps, and facts under each. With `--json` on standard error, so that the output is JSON alone. */
export class Report {
  #step = 0;
  readonly #output: NodeJS.WriteStream;

  constructor(isJson: boolean) {
    this.#output = isJson ? process.stderr : process.stdout;
  }

  step(text: string): void {
    this.#step += 1;
    this.#write(`\n${this.#style('bold', `${this.#step}. ${text}`)}`);
  }

  fact(text: string): void {
    for (const line of text.split('\n')) this.#write(`   ${line}`);
  }

  done(text: string): void {
    this.#write(`   ${this.#style('green', '✓')} ${text}`);
  }

  say(text: string): void {
    this.#write(text);
  }

  #style(style: 'bold' | 'green', text: string): string {
    return styleText(style, text, { stream: this.#output });
  }

  #write(line: string): void {
    this.#output.write(`${line}\n`);
  }
}
