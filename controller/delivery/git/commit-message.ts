import { firstFew } from '../../../constructs/first-few.ts';
import { hiddenValue, type Difference } from '../../drift/index.ts';

/** One database's part in a commit. */
export interface CommittedDatabase {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** Of the files that its folder has now; undefined where the database is gone. */
  readonly renderHash: string | undefined;
  /** What the change means, a line each, in words. */
  readonly summary: readonly string[];
  /** `add`: it had no files before. `remove`: the database is gone. */
  readonly kind: 'add' | 'update' | 'remove';
  /** What was written or removed, such as `StatefulSet orders`. */
  readonly things: readonly string[];
  /** Paths inside the database's folder. */
  readonly added: readonly string[];
  readonly changed: readonly ChangedThing[];
  readonly removed: readonly string[];
}

export interface ChangedThing {
  /** Inside the database's folder. */
  readonly path: string;
  /** In which the file differs from what it was; none where that is not known. */
  readonly fields: readonly Difference[];
}

const subjectLength = 72;
const lineLength = 200;
/** Of one value, and of the fields of one database: whoever wants to see more looks at the commit itself. */
const valueLength = 60;
const fieldsShown = 12;
const verbs = { add: 'Add', update: 'Update', remove: 'Remove' } as const;

/** Subject, a paragraph for each database, and trailers that a program can read (`git interpret-trailers`). */
export function commitMessage(databases: readonly CommittedDatabase[]): string {
  const trailers = databases.flatMap(({ namespace, name, generation, renderHash }) => [
    `Plumbline-Database: ${namespace}/${name}`,
    `Plumbline-Generation: ${generation}`,
    ...(renderHash === undefined ? [] : [`Plumbline-Render-Hash: ${renderHash}`]),
  ]);
  return [subject(databases), ...databases.map(paragraph), trailers.join('\n')].join('\n\n') + '\n';
}

function subject(databases: readonly CommittedDatabase[]): string {
  const [first] = databases;
  if (first === undefined) return 'Update nothing';
  const kinds = new Set(databases.map(({ kind }) => kind));
  const verb = verbs[kinds.size === 1 ? first.kind : 'update'];
  const names = databases.map(({ namespace, name }) => `${namespace}/${name}`);
  if (databases.length > 1) return fitting(`${verb} ${databases.length} databases: `, names);
  const start = `${verb} ${names.join('')}`;
  return first.kind === 'update' ? fitting(`${start}: `, gist(first)) : start;
}

/** As many of the things as the line holds, and how many more there are. */
function fitting(start: string, things: readonly string[]): string {
  for (let shown = things.length; shown > 0; shown--) {
    const line = start + firstFew(things, shown);
    if (line.length <= subjectLength) return line;
  }
  return start.replace(/: $/, '');
}

/** Of a change of fields alone their last names, of a single one with its values if there is room; otherwise what was written. */
function gist({ namespace, name, things, added, changed, removed }: CommittedDatabase): readonly string[] {
  const fields = changed.flatMap((file) => file.fields);
  const isOfFields = added.length + removed.length === 0 && changed.every((file) => file.fields.length > 0);
  if (!isOfFields) return things;
  const [first, ...others] = fields;
  const whole =
    first === undefined || others.length > 0 ? '' : oneLine(lastName(first.field) + values(first).replace(/^:/, ''));
  const hasRoom = `Update ${namespace}/${name}: ${whole}`.length <= subjectLength;
  return whole !== '' && hasRoom ? [whole] : [...new Set(fields.map(({ field }) => oneLine(lastName(field))))];
}

/** Of `spec.template.spec.containers[name=postgres].image` the `image`, of `data[setup.sh]` the whole. */
function lastName(field: string): string {
  return /(?:^|\.)((?:[^.[\]]|\[[^\]]*\])+)$/.exec(field)?.[1] ?? field;
}

function paragraph({ namespace, name, generation, ...database }: CommittedDatabase): string {
  const lines = [
    `${namespace}/${name}, generation ${generation}`,
    ...database.added.map((path) => `  added    ${path}`),
    ...changedLines(database.changed),
    ...database.removed.map((path) => `  removed  ${path}`),
    ...database.summary.map((line) => `  ${oneLine(line)}`),
  ];
  return lines.join('\n');
}

function changedLines(changed: readonly ChangedThing[]): string[] {
  let room = fieldsShown;
  return changed.flatMap(({ path, fields }) => {
    const shown = fields.slice(0, room);
    room -= shown.length;
    const rest = fields.length - shown.length;
    return [
      `  changed  ${path}`,
      ...shown.map((one) => `    ${oneLine(one.field + values(one))}`),
      ...(rest > 0 ? [`    ${rest} ${shown.length === 0 ? '' : 'more '}field${rest === 1 ? '' : 's'}`] : []),
    ];
  });
}

/** Before and after, where both may be shown and are short. */
function values({ was, now }: Difference): string {
  if (was === undefined) return isShown(now) ? ` is new: ${now}` : ' is new';
  if (now === undefined) return isShown(was) ? ` is gone: ${was}` : ' is gone';
  return isShown(was) && isShown(now) ? `: ${was || '""'} → ${now || '""'}` : '';
}

function isShown(value: string | undefined): boolean {
  return value !== undefined && value !== hiddenValue && value.length <= valueLength;
}

/** Nothing in a summary or a value can begin a new line, and so none can pose as a trailer. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*\p{Cc}\s*/gu, ' ').slice(0, lineLength);
}
