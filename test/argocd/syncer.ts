import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { serialize } from '../../constructs/serialize.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { git } from '../quickstart/git.ts';
import { discardFolder } from '../discard-folder.ts';

const manager = 'argocd-controller';

/** How an application knows its objects again. */
export type Tracking = 'annotation' | 'label';

export interface SyncerOptions {
  readonly cluster: Cluster;
  /** Of the repository. */
  readonly url: string;
  /** Folder of the application in it. */
  readonly path: string;
  /** Name of the application. */
  readonly name: string;
  /** Defaults to by annotation. */
  readonly tracking?: Tracking;
}

/**
 * Does for one folder of a real repository what Argo CD does for an Application: a server-side apply under its own name with its mark on each object,
 * and a comparison by a dry run of the same, as in gitops-engine/pkg/diff/diff.go.
 */
export class Syncer implements Disposable {
  readonly #options: SyncerOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'plumbline-syncer-'));
  #hasClone = false;

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Applies what the branch holds now. @throws Error in the words of the API server */
  async sync(): Promise<void> {
    await this.#apply(await this.#targets(), []);
  }

  /** Paths such as `StatefulSet/orders spec.replicas` at which a sync would change something, and objects that it would create. */
  async outOfSync(): Promise<readonly string[]> {
    const targets = await this.#targets();
    const live = await this.#live(targets);
    const present = targets.filter((target) => live.has(nameOf(target)));
    const predicted = await this.#apply(present, ['--dry-run=server']);
    const differences = predicted.flatMap((object) => {
      const found = live.get(nameOf(object));
      return found === undefined ? [] : differencesOf(compared(found), compared(object), nameOf(object));
    });
    const missing = targets.filter((target) => !live.has(nameOf(target))).map(nameOf);
    return [...missing, ...differences];
  }

  /** The manifests of the folder with Argo CD's mark on them; what is no YAML is left out, as by `directory.include`. */
  async #targets(): Promise<readonly KubeObject[]> {
    const { url, path } = this.#options;
    const clone = join(this.#folder, 'clone');
    if (this.#hasClone) await git(clone, 'fetch', '--quiet', 'origin', 'main');
    else await git(this.#folder, 'clone', '--quiet', '--branch=main', url, clone);
    this.#hasClone = true;
    await git(clone, 'reset', '--quiet', '--hard', 'origin/main');
    return readdirSync(join(clone, path))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => this.#marked(parse(readFileSync(join(clone, path, file), 'utf8')) as KubeObject));
  }

  #marked(object: KubeObject): KubeObject {
    const { name, tracking = 'annotation' } = this.#options;
    const { labels, annotations, namespace } = object.metadata;
    const [group] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : [''];
    const mark =
      tracking === 'label'
        ? { labels: { ...labels, 'app.kubernetes.io/instance': name } }
        : {
            annotations: {
              ...annotations,
              'argocd.argoproj.io/tracking-id': `${name}:${group}/${object.kind}:${namespace}/${object.metadata.name}`,
            },
          };
    return { ...object, metadata: { ...object.metadata, ...mark } };
  }

  async #apply(targets: readonly KubeObject[], more: readonly string[]): Promise<readonly KubeObject[]> {
    const args = ['apply', '--server-side', '--force-conflicts', `--field-manager=${manager}`, ...more];
    return this.#kubectl([...args, '--output=json', '--show-managed-fields', '--filename=-'], targets);
  }

  async #live(targets: readonly KubeObject[]): Promise<ReadonlyMap<string, KubeObject>> {
    const found = await this.#kubectl(['get', '--ignore-not-found', '--output=json', '--filename=-'], targets);
    return new Map(found.map((object) => [nameOf(object), object]));
  }

  async #kubectl(args: readonly string[], objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    if (objects.length === 0) return [];
    const { code, stdout, stderr } = await this.#options.cluster.kubectlRun(args, objects.map(serialize).join('---\n'));
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    if (stdout.trim() === '') return [];
    const answer = JSON.parse(stdout) as KubeObject & { readonly items?: readonly KubeObject[] };
    return answer.items ?? [answer];
  }

  [Symbol.dispose](): void {
    discardFolder(this.#folder);
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}

/** An object without what Argo CD takes away before it compares. */
function compared(object: KubeObject): unknown {
  const { managedFields: _, resourceVersion: __, creationTimestamp: ___, ...rest } = object.metadata;
  return { ...object, metadata: { ...rest, generation: undefined } };
}

function differencesOf(live: unknown, predicted: unknown, place: string): readonly string[] {
  if (JSON.stringify(sorted(live)) === JSON.stringify(sorted(predicted))) return [];
  if (!isFields(live) || !isFields(predicted)) return [place];
  const separator = place.includes(' ') ? '.' : ' ';
  const keys = [...new Set([...Object.keys(live), ...Object.keys(predicted)])];
  return keys.flatMap((key) => differencesOf(live[key], predicted[key], `${place}${separator}${key}`));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
