import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import { load, YAMLException } from 'js-yaml';
import { ConnectionError } from './connection-error.ts';
import { isRecord } from './kube-error.ts';
import { withTokenFile } from './token-file.ts';

/** What one context says about reaching a cluster. */
export interface Target {
  readonly cluster: Cluster;
  readonly user: User;
  /** Of the context. */
  readonly namespace: string | undefined;
  /** Where this came from, for messages. */
  readonly source: string;
  /** It is a pod's service account: a token and an authority in files, and nothing else. */
  readonly isServiceAccount?: boolean;
}

interface Kubeconfig {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string | undefined;
}

/**
 * Finds and reads the kubeconfig as kubectl does: the path given, else the files of $KUBECONFIG (the first to name a
 * thing wins, missing ones are skipped), else ~/.kube/config.
 * @returns undefined if neither a path nor $KUBECONFIG is given and ~/.kube/config does not exist.
 * @throws ConnectionError for a file that is missing, unreadable, not a kubeconfig, or has no such context.
 */
export async function targetFromKubeconfig(
  environment: NodeJS.ProcessEnv,
  path?: string,
  context?: string,
): Promise<Target | undefined> {
  const named = path ?? environment['KUBECONFIG'] ?? '';
  const files =
    named === ''
      ? [join(environment['HOME'] ?? homedir(), '.kube', 'config')]
      : named
          .split(delimiter)
          .filter(Boolean)
          .map((file) => resolve(file));
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await read(file) })));
  const found: Kubeconfig[] = [];
  for (const { file, text } of texts) if (text !== undefined) found.push(await parse(file, text));
  const source = files.join(delimiter);
  if (found.length > 0) return select(found, source, context);
  if (named === '') return undefined;
  throw new ConnectionError(
    'kubeconfig-missing',
    `there is no kubeconfig at ${source}. Give the path of an existing file`,
  );
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return undefined;
    const message = `cannot read the kubeconfig ${file} (${code}). Check that it is a file and its permissions`;
    throw new ConnectionError('kubeconfig-unreadable', message, { cause: error });
  }
}

async function parse(file: string, text: string): Promise<Kubeconfig> {
  const invalid = (what: string): ConnectionError =>
    new ConnectionError('kubeconfig-invalid', `${file} is not a kubeconfig: ${what}`);
  let document: unknown;
  try {
    document = load(text);
  } catch (error) {
    throw invalid(`it is not YAML (${yamlProblem(error)})`);
  }
  if (!isRecord(document)) throw invalid('it is empty or not a mapping');
  if (!Array.isArray(document['clusters']) || !Array.isArray(document['contexts'])) {
    throw invalid('it has no list of clusters and contexts');
  }
  const { KubeConfig } = await import('./kube-config.ts');
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'unknown problem');
  }
  config.makePathsAbsolute(dirname(file));
  const users = config.users.map((user) => readTokenFile(user, document['users'], dirname(file)));
  return { clusters: config.clusters, users, contexts: config.contexts, currentContext: config.currentContext };
}

/** The exception's own message quotes the lines around the problem, which may hold a token. */
function yamlProblem(error: unknown): string {
  if (!(error instanceof YAMLException)) return 'unknown problem';
  return error.mark === undefined ? error.reason : `${error.reason}, line ${error.mark.line + 1}`;
}

/** client-node 2.0.1 looks for `token-file`, and reads it once; the field is `tokenFile`, and tokens in files change. */
function readTokenFile(user: User, entries: unknown, directory: string): User {
  const entry = Array.isArray(entries) ? entries.filter(isRecord).find((one) => one['name'] === user.name) : undefined;
  const file = isRecord(entry?.['user']) ? entry['user']['tokenFile'] : undefined;
  return typeof file === 'string' && file !== '' ? withTokenFile(user, resolve(directory, file)) : user;
}

function select(found: readonly Kubeconfig[], source: string, wanted: string | undefined): Target {
  const contexts = found.flatMap((config) => config.contexts);
  const name = wanted ?? found.map((config) => config.currentContext).find((one) => one !== undefined && one !== '');
  const known = [...new Set(contexts.map((context) => context.name))].join(', ') || 'none';
  if (name === undefined) {
    throw new ConnectionError('context-unknown', `${source} has no current context. Name one of: ${known}`);
  }
  const context = contexts.find((one) => one.name === name);
  if (context === undefined) {
    throw new ConnectionError('context-unknown', `${source} has no context ${name}. Name one of: ${known}`);
  }
  const cluster = found.flatMap((config) => config.clusters).find((one) => one.name === context.cluster);
  if (cluster === undefined) {
    const message = `${source}: context ${name} names the cluster ${context.cluster}, which is not defined there`;
    throw new ConnectionError('kubeconfig-invalid', message);
  }
  const user = found.flatMap((config) => config.users).find((one) => one.name === context.user);
  if (user === undefined && context.user !== undefined) {
    const message = `${source}: context ${name} names the user ${context.user}, which is not defined there`;
    throw new ConnectionError('kubeconfig-invalid', message);
  }
  return {
    cluster,
    user: user ?? { name: 'anonymous' },
    namespace: context.namespace,
    source: `kubeconfig ${source}, context ${name}`,
  };
}
