import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { namesOf } from '../../constructs/names.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { monotonicSeconds, type Acknowledgement } from './acknowledgements.ts';
import type { NodeDatabase } from './node-database.ts';
import { ensureRestingPod } from './resting-pod.ts';

const script = readFileSync(new URL('./writer.py', import.meta.url), 'utf8');
const pod = 'writer';

/**
 * An application: a pod of its own that mounts the Secret of a database and writes numbered rows through its Service, see `writer.py`. It
 * connects again by itself.
 */
export class Writer implements AsyncDisposable {
  readonly acknowledgements: Acknowledgement[] = [];
  /** Why tries failed, with the time of the first of each kind. */
  readonly complaints: string[] = [];
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #end: Promise<unknown>;
  #stderr = '';
  /** From the clock of the pod's machine, which may be another, to ours, in seconds; what the first line took to come is too little to matter. */
  #ahead = 0;

  private constructor({ cluster, namespace, name }: NodeDatabase) {
    const command = ['python3', '-u', '-c', script, name];
    const args = [`--kubeconfig=${cluster.kubeconfig}`, '-n', namespace, 'exec', '-i', pod, '--', ...command];
    this.#process = spawn(cluster.kubectl, args, { stdio: 'pipe' });
    this.#process.stdin.on('error', () => undefined);
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#read(line));
    this.#end = once(this.#process, 'close');
  }

  /** Starts with an empty table, and returns when the first rows are acknowledged. */
  static async start(database: NodeDatabase): Promise<Writer> {
    await ensurePod(database);
    const leader = (await database.leader()) ?? '';
    await database.sql(leader, table, 'app');
    const writer = new Writer(database);
    await writer.acknowledgedAfter(0);
    return writer;
  }

  /** Waits for a row that was acknowledged after a moment. @throws Error with what the writer met when there is none for minutes */
  async acknowledgedAfter(seconds: number, withinMs = 180_000): Promise<void> {
    const isThere = (): true | undefined => (this.acknowledgements.at(-1)?.at ?? 0) > seconds || undefined;
    try {
      await eventually('a row is acknowledged', isThere, withinMs);
    } catch (cause) {
      throw new Error([this.#stderr, ...this.complaints.slice(-5)].join('\n'), { cause });
    }
  }

  /** Ends it, and returns what was acknowledged. */
  async stop(): Promise<readonly Acknowledgement[]> {
    this.#process.stdin.end();
    await this.#end;
    return this.acknowledgements;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #read(line: string): void {
    if (line.startsWith('=')) {
      this.#ahead = monotonicSeconds() - Number(line.slice(2));
      return;
    }
    if (line.startsWith('!')) return void this.complaints.push(line.slice(2));
    const [number, at] = line.split(' ').map(Number);
    if (number !== undefined && at !== undefined) this.acknowledgements.push({ number, at: at + this.#ahead });
  }
}

/** The numbers that a table holds after a run. */
export async function storedRows(database: NodeDatabase): Promise<ReadonlySet<number>> {
  const rows = await database.sql((await database.leader()) ?? '', 'select n from written', 'app');
  return new Set(rows.split('\n').filter(Boolean).map(Number));
}

const table = `set client_min_messages = error;
  drop table if exists written;
  create table written (n bigint primary key);
  alter table written owner to app`;

async function ensurePod(database: NodeDatabase): Promise<void> {
  const mount = { name: 'credentials', mountPath: '/credentials' };
  const secret = { secretName: namesOf(database.name).credentials, defaultMode: 0o440 };
  await ensureRestingPod(database, { name: pod, mounted: { mount, volume: { name: 'credentials', secret } } });
}
