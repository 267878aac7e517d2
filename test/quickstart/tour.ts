import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { applyAsArgo, clusterDifference } from './argo-cd.ts';
import { ControllerProcess } from './controller-process.ts';
import { driftOf } from './drift.ts';
import { difference, filesIn, git } from './git.ts';
import { install } from './installation.ts';
import { createDatabase, deleteAndCreate, statusOf, untilRunning } from './life.ts';
import type { Report, Summary } from './report.ts';
import { askVersion } from './session.ts';
import { forOneNode, readSpec, synthesize } from './spec.ts';
import type { Started } from './started.ts';
import type { Target } from './target.ts';
import { waitFor } from './wait.ts';
import type { Workspace } from './workspace.ts';

export interface Tour {
  readonly report: Report;
  readonly workspace: Workspace;
  /** Takes everything that has to be ended. */
  readonly started: Started;
  readonly openTarget: () => Promise<Target>;
  /** Of the database. */
  readonly namespace: string;
  readonly keep: boolean;
  /** The target has a node, so PostgreSQL runs. */
  readonly hasNode: boolean;
  readonly signal: AbortSignal;
}

const branch = 'main';
const cluster = 'quickstart';

/** The main job of Plumbline, once, on real parts. @throws the signal's reason as soon as it is aborted */
export async function tour(options: Tour): Promise<Summary> {
  const { report, workspace, started, keep, namespace, hasNode, signal } = options;
  report.step('The spec is validated');
  const database = readSpec(namespace, hasNode ? await forOneNode() : {}, report);
  report.step('cdk8s synth writes the manifests');
  const synthesized = await synthesize(database, workspace, report, signal);
  report.step(hasNode ? 'A Kubernetes API server and a node' : 'A Kubernetes API server');
  const target = await unlessAborted(options.openTarget(), signal);
  started.add(target);
  const argoNamespace = `${namespace}-argocd`;
  await install(target, [namespace, argoNamespace], started, report);
  report.step('The controller starts');
  const repository = await bareRepository(workspace);
  const controller = new ControllerProcess([...target.flags, ...flagsFor(namespace, repository)], keep);
  started.add(controller);
  if (keep) workspace.giveTo(controller.pid);
  await controller.leads(signal);
  report.done('it leads, and watches every kind of object that a database has');
  const summary = await deliveries({ ...options, target, database, synthesized, repository, argoNamespace });
  if (!hasNode)
    report.say(
      '\nNo PostgreSQL ran here: without a node the pods stay Pending. With --node, as root on Linux, it does.',
    );
  return summary;
}

/** What is being built or started is not waited for: its guards end it with this process. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

interface Deliveries extends Tour {
  readonly target: Target;
  readonly database: DatabaseServiceDocument;
  readonly synthesized: ReadonlyMap<string, string>;
  readonly repository: string;
  readonly argoNamespace: string;
}

async function deliveries(all: Deliveries): Promise<Summary> {
  const { report, target, database, synthesized, argoNamespace, hasNode, signal } = all;
  const step = (text: string): void => {
    signal.throwIfAborted();
    report.step(text);
  };
  step('The DatabaseService is applied');
  const running = async (): Promise<void> => {
    step('PostgreSQL starts');
    await untilRunning(target, database, report);
  };
  const { objects, applyMs } = await createDatabase(target, database, report);
  if (hasNode) await running();
  step('Somebody changes what is not theirs');
  const drift = await driftOf(target, database, report);
  step('The manifests are in Git');
  const { commit, files } = await checkout(all);
  step('A checkout is applied as Argo CD would');
  await applyAsArgo(target, files, argoNamespace, report);
  step('The three deliveries are compared');
  const differences = [
    difference(synthesized, files),
    await clusterDifference(target, synthesized, database, argoNamespace),
  ];
  const found = differences.filter((one) => one !== undefined);
  if (found.length === 0)
    report.done('dist/ and Git: the same bytes; the cluster: the fields that are owned are the rendered ones');
  for (const one of found) report.fact(`✗ ${one}`);
  step('The DatabaseService is deleted and created again');
  await deleteAndCreate(target, database, report);
  const summary = { objects, applyMs, drift, commit, identical: found.length === 0 };
  if (!hasNode) return summary;
  await running();
  step('An application connects');
  return { ...summary, version: await askVersion(target, database, report) };
}

function flagsFor(namespace: string, repository: string): readonly string[] {
  const git = ['--git-url', repository, '--git-branch', branch, '--cluster-name', cluster];
  return ['--namespace', namespace, '--lease-namespace', namespace, ...git];
}

async function bareRepository(workspace: Workspace): Promise<string> {
  const folder = workspace.sub('repository.git');
  await git(folder, 'init', '--quiet', '--bare', `--initial-branch=${branch}`);
  return folder;
}

async function checkout({
  repository,
  workspace,
  target,
  database,
  report,
}: Deliveries): Promise<{ commit: string; files: ReadonlyMap<string, string> }> {
  const { commit, path } = await waitFor(
    'the commit is in the status',
    async () => (await statusOf(target, database))?.git,
    target,
  );
  const folder = workspace.sub('checkout');
  rmSync(folder, { recursive: true });
  await git(workspace.folder, 'clone', '--quiet', '--branch', branch, repository, folder);
  report.fact(await git(folder, 'log', '-1', '--format=%h %s%n%w(0,2,2)%b', commit));
  const files = filesIn(join(folder, path));
  report.done(`${files.size} files in ${path}`);
  return { commit, files };
}
