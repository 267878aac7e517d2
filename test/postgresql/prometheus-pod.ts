import { prometheusPrograms, type PodCluster } from '../cluster/index.ts';
import type { NodeDatabase } from './node-database.ts';
import { ensureRestingPod } from './resting-pod.ts';
import { askFrom } from './scraper.ts';

/** One series of an answer of Prometheus. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const name = 'prometheus';
const folder = '/dev/shm';

/** A real Prometheus in a pod on the node. That of Debian knows no service discovery by Kubernetes. */
export class PrometheusPod {
  readonly #cluster: PodCluster;
  readonly #namespace: string;

  private constructor(cluster: PodCluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
  }

  /**
   * Starts it in a namespace that is there.
   *
   * @param database whose node it runs on
   * @param configuration as in a file of its own
   */
  static async start(database: NodeDatabase, namespace: string, configuration: string): Promise<PrometheusPod> {
    const { cluster } = database;
    const { prometheus } = await prometheusPrograms();
    const mount = { name, mountPath: `/opt/${name}`, readOnly: true };
    const volume = { name, hostPath: { path: prometheus, type: 'File' } };
    await ensureRestingPod(database, { name, namespace, labels: { app: name }, mounted: { mount, volume } });
    const flags = `--config.file=${folder}/config.yml --storage.tsdb.path=${folder}/data --web.listen-address=127.0.0.1:9090`;
    const script = `set -e; cat >${folder}/config.yml; ${mount.mountPath} ${flags} >${folder}/log 2>&1 </dev/null &`;
    const command = ['-n', namespace, 'exec', '-i', name, '--', 'bash', '-c', script];
    const { code, stderr } = await cluster.kubectlRun(command, configuration);
    if (code !== 0) throw new Error(stderr);
    return new PrometheusPod(cluster, namespace);
  }

  /** What an expression gives now; nothing while Prometheus is not up yet. @throws Error with its words when it refuses the expression */
  async query(expression: string): Promise<readonly Series[]> {
    const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer = await askFrom(this.#cluster, { namespace: this.#namespace, pod: name }, url);
    if (answer === undefined || answer.status === 503) return [];
    if (answer.status !== 200) throw new Error(`${expression}: ${answer.body}`);
    const { data } = JSON.parse(answer.body) as {
      readonly data: {
        readonly result: readonly {
          readonly metric: Readonly<Record<string, string>>;
          readonly value: readonly [number, string];
        }[];
      };
    };
    return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  }
}
