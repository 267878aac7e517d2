import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { serialize } from '../../constructs/serialize.ts';
import { sentence } from '../../constructs/api/problem.ts';
import { validateText } from '../../constructs/api/validate.ts';
import { postgresqlImage } from '../cluster/index.ts';
import { filesIn } from './git.ts';
import type { Report } from './report.ts';
import type { Workspace } from './workspace.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const example = 'examples/orders.yaml';

/** What is different where the database really runs: the node's own image, and little of one machine. */
export async function forOneNode(): Promise<Partial<DatabaseServiceDocument['spec']>> {
  const { reference: image } = await postgresqlImage();
  const resources = { requests: { cpu: '50m', memory: '256Mi' } };
  return { image, resources, storage: { size: '1Gi' } };
}

/**
 * The example, in a namespace of the quickstart's own.
 *
 * @param more of the spec, over what the example says
 * @throws Error with everything that is wrong with it
 */
export function readSpec(
  namespace: string,
  more: Partial<DatabaseServiceDocument['spec']>,
  report: Report,
): DatabaseServiceDocument {
  const [judged] = validateText(readFileSync(join(project, example), 'utf8'));
  if (judged?.resource === undefined) {
    throw new Error(`${example} is not valid:\n${(judged?.problems ?? []).map(sentence).join('\n')}`);
  }
  const { resource } = judged;
  const spec = { ...resource.spec, ...more };
  report.done(`${example}: ${spec.engine} ${spec.version}, ${spec.replicas} members, ${spec.storage.size} each`);
  if (Object.keys(more).length > 0)
    report.fact(`here with another ${Object.keys(more).join(', ')}, for a node on this machine`);
  return { ...resource, metadata: { ...resource.metadata, namespace }, spec };
}

/**
 * Runs the real `cdk8s synth` on the spec.
 *
 * @returns what it wrote, by file name
 * @throws the signal's reason, after the end of what it runs
 */
export async function synthesize(
  database: DatabaseServiceDocument,
  workspace: Workspace,
  report: Report,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const specs = workspace.sub('specs');
  const output = join(workspace.folder, 'dist');
  mkdirSync(specs, { recursive: true });
  writeFileSync(join(specs, 'orders.yaml'), serialize({ ...database }));
  const args = ['constructs/synth.ts', '--specs', specs, '--output', output];
  const child = spawn(process.execPath, args, { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = (): boolean => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (status !== 0) throw new Error(`synth failed:\n${stderr}`);
  const { namespace = '', name } = database.metadata;
  const files = filesIn(join(output, 'databases', namespace, name));
  report.done(`${files.size} files in dist/databases/${namespace}/${name}/`);
  report.fact([...files.keys()].join('\n'));
  return files;
}
