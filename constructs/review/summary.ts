import { load } from 'js-yaml';
import type { Manifest } from '../manifest.ts';
import { changesOf, type Change } from './changes.ts';

/** The rendered files of two states, by their paths below the folder that `synth` writes. */
export interface States {
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

/** What a change of the rendered files means, as Markdown for whoever reviews it: by database, object and field. Pure. */
export function summaryOf({ before, after }: States): string {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  if (paths.length === 0) return 'Nothing that is rendered changes.\n';
  const groups = Map.groupBy(paths.toSorted(), groupOf);
  return [...groups].map(([group, files]) => groupSummary(group, files, { before, after })).join('\n');
}

/** `shop/orders` of a file of that database; otherwise the folder. */
function groupOf(path: string): string {
  const [top = '', namespace = '', name = ''] = path.split('/');
  return top === 'databases' ? `${namespace}/${name}` : top;
}

function groupSummary(group: string, paths: readonly string[], states: States): string {
  const isOfGroup = (path: string): boolean => groupOf(path) === group;
  const had = [...states.before.keys()].filter(isOfGroup).length;
  const has = [...states.after.keys()].filter(isOfGroup).length;
  if (had === 0) return `### ${group} is new: ${has} objects\n`;
  if (has === 0) return `### ${group} is removed, with its ${had} objects\n`;
  const lines = paths.flatMap((path) => objectLines(states.before.get(path), states.after.get(path)));
  return `### ${group} changes\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}

function objectLines(was: string | undefined, now: string | undefined): readonly string[] {
  const [old, fresh] = [manifestOf(was), manifestOf(now)];
  if (old === undefined) return fresh === undefined ? [] : [`${titleOf(fresh)} is new`];
  if (fresh === undefined) return [`${titleOf(old)} is removed`];
  const changes = changesOf(old, fresh);
  const told = changes.filter(({ path }) => !path.includes('[plumbline.dev/template]'));
  return [...told.map((change) => `${titleOf(fresh)}: ${inWords(change)}`), ...consequences(fresh, changes)];
}

/** A file that is there holds one object. */
function manifestOf(text: string | undefined): Manifest | undefined {
  return text === undefined ? undefined : (load(text) as Manifest);
}

function titleOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

function inWords({ path, was, now }: Change): string {
  if (was === undefined) return `\`${path}\` is new${isShort(now) ? `: \`${now}\`` : ''}`;
  if (now === undefined) return `\`${path}\` is removed${isShort(was) ? `, it was \`${was}\`` : ''}`;
  return isShort(was) && isShort(now) ? `\`${path}\` from \`${was}\` to \`${now}\`` : `\`${path}\` is another text`;
}

function isShort(value: string | undefined): value is string {
  return value !== undefined && value.length <= 80 && !value.includes('`');
}

function consequences(manifest: Manifest, changes: readonly Change[]): readonly string[] {
  if (manifest.kind !== 'StatefulSet' || !changes.some(({ path }) => path.startsWith('spec.template'))) return [];
  const { updateStrategy } = manifest['spec'] as { readonly updateStrategy: { readonly type: string } };
  return updateStrategy.type === 'OnDelete'
    ? ['**its members are made again**, replicas first, the primary last after a switchover']
    : ['**its members are made again** by Kubernetes, from the highest number down'];
}
