import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../cluster/node/dockerfile.ts';
import { freePort } from '../../cluster/ports.ts';
import { endsWithUs } from '../../ends-with-us.ts';
import { eventually } from '../../controller/running-plumbline.ts';

const mebibyte = 1024 ** 2;
const longestMs = 300_000;
const dockerfile = fileURLToPath(new URL('../../../images/controller/Dockerfile', import.meta.url));

/** The controller as its image starts it, one file, in a process of its own; watched through its own endpoints and /proc. */
export class ShippedController {
  readonly #child: ChildProcess;
  readonly #metrics: string;
  readonly #health: string;
  readonly #startedAt = performance.now();

  private constructor(child: ChildProcess, metrics: string, health: string) {
    this.#child = child;
    this.#metrics = metrics;
    this.#health = health;
  }

  /** @param file the bundle */
  static async start(file: string, kubeconfig: string): Promise<ShippedController> {
    const [metrics, health] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const [, ...flags] = readConfig(dockerfile).Entrypoint ?? [];
    const target = [...flags.slice(0, -1), file, '--kubeconfig', kubeconfig];
    const endpoints = ['--metrics-address', metrics, '--metrics-auth', 'none', '--health-address', health];
    const args = [...target, ...endpoints, '--log-level', 'error'];
    const env = { ...process.env, ...environment() };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
    endsWithUs(child);
    return new ShippedController(child, `http://${metrics}/metrics`, `http://${health}/readyz`);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Seconds from its start until it leads, has read everything and nothing is left to look at. */
  async idle(): Promise<number> {
    await this.#until('is ready', () => this.#isReady());
    await this.#until('has looked at everything', async () => {
      const metrics = await this.metrics();
      return metrics.leads && metrics.reconciles > 0 && metrics.waiting === 0;
    });
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** What its metrics say; the delay of its event loop is that since they were read last. */
  async metrics() {
    const text = await this.#ownMetrics();
    const sum = (name: string): number =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
        (total, [, value]) => total + Number(value),
        0,
      );
    return {
      leads: sum('leader_election_master_status') === 1,
      reconciles: sum('controller_runtime_reconcile_total'),
      waiting: sum('workqueue_depth') + sum('controller_runtime_active_workers'),
      eventLoopP99Ms: sum('nodejs_eventloop_lag_p99_seconds') * 1000,
    };
  }

  /** Its memory now, and the most that it ever had, in MiB (proc_pid_status(5)). */
  memory(): { readonly residentMiB: number; readonly peakMiB: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    const mebibytes = (name: string): number =>
      (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024) / mebibyte;
    return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM') };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exit;
  }

  /** What is of the process as a whole. It comes first, and the rest, which grows with the databases, is not asked for. */
  async #ownMetrics(): Promise<string> {
    const { body } = await fetch(this.#metrics, { headers: { 'accept-encoding': 'identity' } });
    let text = '';
    for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes('plumbline_databases')) break;
    }
    return text;
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(this.#health)).ok;
    } catch {
      // It does not listen yet.
      return false;
    }
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const check = async (): Promise<true | undefined> => {
      if (this.#child.exitCode !== null) throw new Error(`the controller ended with code ${this.#child.exitCode}`);
      const isSo = await holds();
      if (!isSo) await delay(100);
      return isSo || undefined;
    };
    await eventually(`the controller ${what}`, check, longestMs);
  }
}

/** The variables of its image. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries((readConfig(dockerfile).Env ?? []).map((variable) => variable.split('=', 2)));
}
