import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { freePort } from '../cluster/ports.ts';
import { prometheusPrograms } from '../cluster/index.ts';
import { TemporaryFolder } from '../commands/command.ts';
import { endsWithUs } from '../ends-with-us.ts';
import { ask } from './endpoints/ask.ts';
import { eventually } from './running-plumbline.ts';

export interface PrometheusOptions {
  /** A file of rules. */
  readonly rules: object;
  /** Whether labels of a series come before those of its target. */
  readonly honorLabels: boolean;
  readonly targets: readonly {
    /** `host:port` */
    readonly address: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

/** A series, or a value that was reckoned. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** How Prometheus finds a rule. */
export interface RuleState {
  readonly name: string;
  readonly health: 'ok' | 'unknown' | 'err';
  readonly lastError?: string;
}

export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** A Prometheus that scrapes and evaluates every second. It ends with this object. */
export class RunningPrometheus implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #folder: TemporaryFolder;
  readonly #url: string;
  #said = '';

  private constructor(program: string, folder: TemporaryFolder, port: number) {
    const address = `127.0.0.1:${port}`;
    const flags = [
      `--config.file=${folder.in('prometheus.yaml')}`,
      `--storage.tsdb.path=${folder.in('data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ];
    this.#folder = folder;
    this.#url = `http://${address}`;
    this.#child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    endsWithUs(this.#child);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** Scrapes HTTP at `/metrics`. @throws Error with what Prometheus says when it does not start */
  static async start({ rules, honorLabels, targets }: PrometheusOptions): Promise<RunningPrometheus> {
    const { prometheus } = await prometheusPrograms();
    const folder = new TemporaryFolder();
    writeFileSync(folder.in('rules.yaml'), JSON.stringify(rules));
    const configuration = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'plumbline-metrics',
          honor_labels: honorLabels,
          static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
        },
      ],
    };
    writeFileSync(folder.in('prometheus.yaml'), JSON.stringify(configuration));
    const running = new RunningPrometheus(prometheus, folder, await freePort());
    try {
      await eventually('Prometheus is ready', () => running.#isReady());
      return running;
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Evaluates an expression. @throws Error with the words of Prometheus */
  async query(expression: string): Promise<readonly Sample[]> {
    const { result } = await this.#get<{ readonly result: readonly Sample[] }>(
      `query?query=${encodeURIComponent(expression)}`,
    );
    return result;
  }

  async rules(): Promise<readonly RuleState[]> {
    const { groups } = await this.#get<{ readonly groups: readonly { readonly rules: readonly RuleState[] }[] }>(
      'rules',
    );
    return groups.flatMap((group) => group.rules);
  }

  /** Those that are told, and those whose time has not come. */
  async alerts(): Promise<readonly ActiveAlert[]> {
    const { alerts } = await this.#get<{ readonly alerts: readonly ActiveAlert[] }>('alerts');
    return alerts;
  }

  async #get<T>(path: string): Promise<T> {
    const { body } = await ask(`${this.#url}/api/v1/${path}`);
    const answer = JSON.parse(body) as { readonly status: string; readonly error?: string; readonly data: T };
    if (answer.status !== 'success') throw new Error(`${decodeURIComponent(path)}: ${answer.error}`);
    return answer.data;
  }

  async #isReady(): Promise<true | undefined> {
    if (this.#child.exitCode !== null) throw new Error(`Prometheus has ended: ${this.#said}`);
    const answer = await ask(`${this.#url}/-/ready`).catch(() => undefined);
    return answer?.status === 200 || undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    this.#folder[Symbol.dispose]();
  }
}
