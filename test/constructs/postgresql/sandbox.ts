import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { scripts } from '../../../constructs/postgresql/scripts.ts';
import type { DatabaseServiceDocument } from '../../../constructs/api/resource.ts';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { installed, type Installed } from './installed.ts';
import { rendered } from './orders.ts';
import { discardFolder } from '../../discard-folder.ts';

/** What a run of a program gave. */
export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

export const server: Installed = installed('initdb', 'postgresql');
export const python: Installed = installed('python3', 'python3');

/** For the `skip` of a test that runs PostgreSQL. */
export const serverMissing: string | false =
  'skip' in server
    ? server.skip
    : 'skip' in python
      ? python.skip
      : process.platform === 'linux'
        ? false
        : 'needs Linux';

/** PostgreSQL refuses to run as root, so as root everything runs as nobody. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A folder with the rendered scripts and what they find mounted in a pod; everything in it belongs to the user they run as. */
export class Sandbox implements Disposable {
  readonly folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'plumbline-scripts-'));
  readonly env: Record<string, string>;
  readonly #children: ChildProcess[] = [];
  readonly #disposers: (() => void)[] = [];

  constructor(env: Readonly<Record<string, string>> = {}) {
    fs.chmodSync(this.folder, 0o755);
    for (const folder of ['run', 'monitoring', 'volume', 'socket', 'backup', 'bin']) this.mkdir(folder);
    for (const [name, text] of Object.entries(scripts)) this.write(`scripts/${name}`, text, 0o755);
    this.env = {
      PATH: [this.path('bin'), 'path' in server ? dirname(fs.realpathSync(server.path)) : '', '/usr/bin', '/bin'].join(
        ':',
      ),
      HOME: this.path('run'),
      LC_ALL: 'C.UTF-8',
      POD_NAME: 'orders-0',
      POD_IP: '127.0.0.1',
      PLUMBLINE_ACCOUNT: this.path('account'),
      PLUMBLINE_ASKED: this.path('asked'),
      PLUMBLINE_DATA: this.path('volume/pgdata'),
      PLUMBLINE_MEMBER: this.path('member.json'),
      PLUMBLINE_MONITORING: this.path('monitoring'),
      PLUMBLINE_RUN: this.path('run'),
      PLUMBLINE_SECRETS: this.path('secrets'),
      PLUMBLINE_SOCKET: this.path('socket'),
      ...env,
    };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  mkdir(name: string): void {
    if (name === '.' || fs.existsSync(this.path(name))) return;
    this.mkdir(dirname(name));
    fs.mkdirSync(this.path(name), { mode: 0o755 });
    this.#own(this.path(name));
  }

  write(name: string, text: string | Uint8Array, mode = 0o644): void {
    this.mkdir(dirname(name));
    fs.writeFileSync(this.path(name), text);
    fs.chmodSync(this.path(name), mode);
    this.#own(this.path(name));
  }

  /** `member.json` as it is rendered, with the folders and ports of this sandbox. */
  member(resource: DatabaseServiceDocument, ports: { readonly postgresql: number; readonly rest: number }): void {
    const name = `${resource.metadata.name}-patroni`;
    const { data } = rendered<V1ConfigMap>(resource, 'ConfigMap', name);
    const text = (data?.['member.json'] ?? '')
      .replaceAll('/data/pgdata', this.path('volume/pgdata'))
      .replaceAll('/run/postgresql', this.path('socket'))
      .replaceAll('/run/plumbline', this.path('run'))
      .replaceAll('/etc/plumbline', this.path('scripts'))
      .replaceAll('*:5432', `*:${ports.postgresql}`)
      .replaceAll('*:8008', `*:${ports.rest}`);
    this.write('member.json', text);
  }

  /** A mounted Secret, as the kubelet mounts it: files behind a symlink that is swapped. */
  secret(name: string, values: Readonly<Record<string, string | Uint8Array>>): void {
    const stamp = `..${process.hrtime.bigint()}`;
    for (const [key, value] of Object.entries(values)) {
      this.write(`secrets/${name}/${stamp}/${key}`, value);
      replaceLink(`..data/${key}`, this.path(`secrets/${name}/${key}`));
    }
    replaceLink(stamp, this.path(`secrets/${name}/..data`));
  }

  /** Runs a program to its end. */
  run(command: string, args: readonly string[], options: { readonly input?: string; readonly env?: object } = {}): Ran {
    const { status, stdout, stderr } = spawnSync(command, args, {
      ...user,
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...this.env, ...options.env },
      input: options.input ?? '',
      timeout: 60_000,
    });
    return { status, output: `${stdout}${stderr}` };
  }

  /** As {@link run}, without blocking: for a program that talks to this process. */
  async runAsync(command: string, args: readonly string[]): Promise<Ran> {
    const child = this.start(command, args);
    const { promise, resolve } = Promise.withResolvers<number | null>();
    child.process.once('close', resolve);
    return { status: await promise, output: child.output() };
  }

  /** Starts a program that ends with the sandbox at the latest. */
  start(command: string, args: readonly string[]): { readonly process: ChildProcess; readonly output: () => string } {
    const child = spawn(command, args, { ...user, cwd: this.folder, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { process: child, output: () => output };
  }

  onDispose(dispose: () => void): void {
    this.#disposers.push(dispose);
  }

  [Symbol.dispose](): void {
    for (const dispose of this.#disposers.toReversed()) dispose();
    for (const child of this.#children) child.kill('SIGKILL');
    // Like a container whose first process ends: nothing of it lives on, also what went into a session of its own.
    for (const pid of this.#processes()) end(pid);
    discardFolder(this.folder);
  }

  #processes(): readonly number[] {
    const pids = fs
      .readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
    return pids.filter((pid) => environment(pid).includes(`PLUMBLINE_RUN=${this.path('run')}\0`));
  }

  #own(path: string): void {
    if (user.uid !== undefined) fs.chownSync(path, user.uid, user.gid);
  }
}

function replaceLink(target: string, path: string): void {
  fs.rmSync(path, { force: true });
  fs.symlinkSync(target, path);
}

/** It may have ended by itself meanwhile. */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function environment(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
