import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Login } from './login.ts';
import type { NodeDatabase } from './node-database.ts';

/** A session of psql in a member that stays open, as the connection of an application does. It logs in over the network. */
export class Session implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #end: Promise<unknown>;
  #stderr = '';

  constructor({ cluster, namespace, members }: NodeDatabase, { host, user, password, database }: Login) {
    const script = 'read -r PGPASSWORD && export PGPASSWORD && exec psql -X -q -v ON_ERROR_STOP=1 -At "$@"';
    const command = ['bash', '-c', script, 'psql', '-h', host, '-U', user, '-d', database];
    const args = [`--kubeconfig=${cluster.kubeconfig}`, '-n', namespace, 'exec', '-i', members[0] ?? ''];
    this.#process = spawn(cluster.kubectl, [...args, '-c', 'postgres', '--', ...command], { stdio: 'pipe' });
    this.#process.stdin.on('error', () => undefined);
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#lines = createInterface({ input: this.#process.stdout });
    this.#end = once(this.#process, 'close');
    this.#process.stdin.write(`${password}\n`);
  }

  /** Runs a statement that returns one line. @throws Error with what psql said when the session has ended */
  async ask(statement: string): Promise<string> {
    const answer = once(this.#lines, 'line').then(([line]) => String(line));
    this.#process.stdin.write(`${statement};\n`);
    const ended = this.#end.then(() => {
      throw new Error(`the session has ended: ${this.#stderr}`);
    });
    return Promise.race([answer, ended]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await this.#end;
  }
}
