import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runLabel, type ExistingCluster } from '../cluster/existing-cluster.ts';
import { plumblineCrd } from '../cluster/index.ts';
import { runKubectl } from '../cluster/kubectl.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { patience } from '../patience.ts';

const crd = 'crd/databaseservices.plumbline.dev';

export interface BorrowOptions {
  /** Of the user's kubeconfig. */
  readonly context: string;
  /** With PostgreSQL 17. */
  readonly image: string;
  /** Receives lines for a person. */
  readonly say: (line: string) => void;
  /** Defaults to the one on the PATH. */
  readonly kubectl?: string;
  /** Where the kubeconfig is looked for. Defaults to that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A cluster of somebody's own, ready for tests. */
export class BorrowedCluster {
  readonly cluster: ExistingCluster;
  readonly #folder: string;
  readonly #say: (line: string) => void;
  #hadCrd = true;

  private constructor(cluster: ExistingCluster, folder: string, say: (line: string) => void) {
    this.cluster = cluster;
    this.#folder = folder;
    this.#say = say;
  }

  /** @throws Error with the words of kubectl */
  static async borrow(options: BorrowOptions): Promise<BorrowedCluster> {
    const { image, say, kubectl = 'kubectl' } = options;
    const folder = mkdtempSync(join(tmpdir(), 'plumbline-members-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, await contextAlone({ ...options, kubectl }), { mode: 0o600 });
      const run = randomBytes(4).toString('hex');
      const borrowed = new BorrowedCluster({ kubeconfig, kubectl, image, run }, folder, say);
      await borrowed.#install();
      return borrowed;
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  /** Removes what a run has made: its namespaces, and the CRD where it was not there before. @throws Error with what is left */
  async giveBack(): Promise<void> {
    try {
      const ours = `${runLabel}=${this.cluster.run}`;
      this.#say(`Removing the namespaces with the label ${ours} …`);
      await this.#kubectl(['delete', 'namespace', '--selector', ours, '--timeout=300s']);
      if (!this.#hadCrd) await this.#kubectl(['delete', crd, patience]);
    } finally {
      rmSync(this.#folder, { recursive: true });
    }
  }

  /** A CRD that is there stays as it is: it may be of another version, with databases that rely on it. */
  async #install(): Promise<void> {
    this.#hadCrd = (await this.#kubectl(['get', crd, '--ignore-not-found', '-o', 'name'])) !== '';
    if (this.#hadCrd) return this.#say(`${crd} is there already, and used as it is.`);
    await this.#kubectl(['create', '-f', plumblineCrd]);
    // It has no conditions for a moment, which `kubectl wait` takes for an error.
    const conditions = ['get', crd, '-o', 'jsonpath={.status.conditions}'];
    const isServed = async (): Promise<boolean> =>
      /"status":"True","type":"Established"/.test(await this.#kubectl(conditions));
    await eventually(`${crd} is served`, isServed);
    this.#say(`${crd} is installed.`);
  }

  async #kubectl(args: readonly string[]): Promise<string> {
    const { kubectl, kubeconfig } = this.cluster;
    const { code, stdout, stderr } = await runKubectl(kubectl, kubeconfig, this.#folder, args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }
}

/** A kubeconfig with one context and everything it needs, so that nothing can reach another cluster. */
async function contextAlone({
  context,
  kubectl,
  environment,
}: BorrowOptions & { readonly kubectl: string }): Promise<string> {
  const view = ['config', 'view', '--minify', '--flatten', `--context=${context}`];
  try {
    return (await promisify(execFile)(kubectl, view, { env: environment ?? process.env })).stdout;
  } catch (error) {
    const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code === 'ENOENT') throw new Error('This needs kubectl on the PATH.', { cause: error });
    throw new Error(stderr.trim(), { cause: error });
  }
}
