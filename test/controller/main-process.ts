import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '../ends-with-us.ts';
import { generated } from '../leaks/mark.ts';
import { eventually } from './running-plumbline.ts';

const source = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));

/** The controller as `npm run controller` starts it. It ends with this object. */
export class MainProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  /** @param environment over that of this process @param entry another build of the controller; defaults to its source */
  constructor(args: readonly string[], environment: NodeJS.ProcessEnv = {}, entry = source) {
    const env = { ...process.env, ...environment };
    this.#child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    endsWithUs(this.#child);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Messages of its log lines. */
  get messages(): readonly string[] {
    return this.#lines.map(({ msg }) => msg);
  }

  /** The first log line with a message. @throws Error where there is none */
  line(message: string): Readonly<Record<string, unknown>> {
    const found = this.#lines.find(({ msg }) => msg === message);
    if (found === undefined) throw new Error(`no line says: ${message}`);
    return found;
  }

  get #lines(): readonly { readonly msg: string }[] {
    const lines = this.stdout.split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { readonly msg: string });
  }

  async says(message: string, withinMs?: number): Promise<void> {
    const isSaid = (): true | undefined => {
      if (!this.isRunning) throw new Error(`the controller has ended: ${this.stderr}${this.stdout}`);
      return this.messages.includes(message) || undefined;
    };
    await eventually(`the controller says: ${message}`, isSaid, withinMs);
  }

  /** When it said a message first, in milliseconds of the wall clock. @throws Error where it did not */
  saidAt(message: string): number {
    return Date.parse(String(this.line(message)['time']));
  }

  /** @returns the exit code */
  async ends(withinMs?: number): Promise<number | null> {
    await eventually('the controller ends', () => !this.isRunning || undefined, withinMs);
    return this.#ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** @throws Error when it has told a password */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isRunning) this.kill('SIGKILL');
    await this.#ended;
    if (generated.isIn(`${this.stdout}${this.stderr}`)) throw new Error('the controller has told a password');
  }
}
