import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { collectsSeldom } from '../collects-seldom.ts';
import type { Command } from '../guard.ts';
import type { Guard, GuardedProcess } from '../process.ts';
import { StartError } from '../readiness.ts';
import { createCgroups } from './cgroups.ts';
import { linkName } from './sweep.ts';

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const namespaces = ['--mount', '--net', '--pid', '--ipc', '--uts'];

/**
 * The namespaces that a node lives in: processes, mounts and network of its own. When its process 1 ends, the kernel ends all the
 * others and removes mounts, interfaces and packet filter. A pair of virtual interfaces connects it to this machine.
 */
export class Sandbox {
  /** The node's own folder, in the cluster's. */
  readonly folder: string;
  /** IPv4 addresses of the two ends of the connection. */
  readonly nodeAddress: string;
  readonly machineAddress: string;
  readonly #guard: Guard;
  readonly #pid: string;

  private constructor(guard: Guard, pid: string, [machine, node]: readonly [string, string]) {
    this.#guard = guard;
    this.#pid = pid;
    this.folder = join(guard.folder, 'node');
    this.machineAddress = machine;
    this.nodeAddress = node;
  }

  /** @param pause path of the executable that becomes process 1 */
  static async create(guard: Guard, pause: string): Promise<Sandbox> {
    mkdirSync(join(guard.folder, 'node'));
    createCgroups(guard.folder);
    const init = await guard.run({
      name: 'sandbox',
      command: 'unshare',
      // --kill-child: whoever ends this process has ended the node.
      args: [...namespaces, '--fork', '--kill-child', '/bin/sh', script('sandbox.sh'), guard.folder, pause],
      cwd: guard.folder,
      environment: { PATH: process.env['PATH'] },
      log: join(guard.folder, 'sandbox.log'),
      inNode: true,
    });
    const pid = await pidOf(init, join(guard.folder, 'node', 'pid'));
    const sandbox = new Sandbox(guard, pid, unusedAddresses());
    sandbox.#connect(linkName(guard.folder));
    return sandbox;
  }

  /** Starts a process inside. It has the cluster's folder in its command line, by which left-overs are found. */
  start(command: Pick<Command, 'name' | 'command' | 'args'>): Promise<GuardedProcess> {
    const { folder } = this.#guard;
    return this.#guard.run({
      name: command.name,
      command: 'nsenter',
      args: [...this.#enter, '--', command.command, ...command.args],
      cwd: folder,
      environment: { PATH: process.env['PATH'], HOME: this.folder, ...collectsSeldom },
      log: join(folder, `${command.name}.log`),
      inNode: true,
    });
  }

  /** Runs a command inside to its end, and returns its standard output. @throws when it fails, with what it said. */
  async run(command: string, args: readonly string[], stdin = ''): Promise<string> {
    const child = spawn('nsenter', [...this.#enter, '--', command, ...args], { stdio: 'pipe' });
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed with code ${code}: ${stderr || stdout}`);
    return stdout;
  }

  get #enter(): string[] {
    return ['--target', this.#pid, ...namespaces];
  }

  #connect(link: string): void {
    mustRun('ip', ['link', 'add', 'name', link, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', this.#pid]);
    mustRun('ip', ['address', 'add', `${this.machineAddress}/30`, 'dev', link]);
    mustRun('ip', ['link', 'set', link, 'up']);
    mustRun('nsenter', [...this.#enter, '--', 'sh', script('network.sh'), this.nodeAddress, this.machineAddress]);
  }
}

async function pidOf(init: GuardedProcess, path: string): Promise<string> {
  while (!existsSync(path)) {
    if (init.exit !== undefined) throw new StartError(`The node's namespaces ended ${init.exit}.`, init.command.log);
    await delay(5);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Two neighbours from 198.18.0.0/15, which is reserved for tests within one machine or lab (RFC 2544). */
function unusedAddresses(): [string, string] {
  const used = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  for (;;) {
    const network = `198.${18 + randomInt(2)}.${randomInt(256)}`;
    const first = 4 * randomInt(64);
    const machine = `${network}.${first + 1}`;
    if (!used.includes(machine)) return [machine, `${network}.${first + 2}`];
  }
}

function mustRun(command: string, args: readonly string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined || status !== 0) {
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`, { cause: error });
  }
}
