import { firstFew } from '../../../constructs/first-few.ts';

/** One database's part in a commit. */
export interface CommittedDatabase {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** What the change means, a line each, in words. */
  readonly summary: readonly string[];
  /** `add`: it had no files before. `remove`: the database is gone. */
  readonly kind: 'add' | 'update' | 'remove';
  /** What was written or removed, such as `StatefulSet orders`. */
  readonly things: readonly string[];
  /** Paths inside the database's folder. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

const subjectLength = 72;
const lineLength = 200;
const verbs = { add: 'Add', update: 'Update', remove: 'Remove' } as const;

/** Subject, a paragraph for each database, and trailers that a program can read (`git interpret-trailers`). */
export function commitMessage(databases: readonly CommittedDatabase[]): string {
  const trailers = databases.flatMap(({ namespace, name, generation }) => [
    `Plumbline-Database: ${namespace}/${name}`,
    `Plumbline-Generation: ${generation}`,
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
  return first.kind === 'update' ? fitting(`${start}: `, first.things) : start;
}

/** As many of the things as the line holds, and how many more there are. */
function fitting(start: string, things: readonly string[]): string {
  for (let shown = things.length; shown > 0; shown--) {
    const line = start + firstFew(things, shown);
    if (line.length <= subjectLength) return line;
  }
  return start.replace(/: $/, '');
}

function paragraph({ namespace, name, generation, ...database }: CommittedDatabase): string {
  const lines = [
    `${namespace}/${name}, generation ${generation}`,
    ...database.added.map((path) => `  added    ${path}`),
    ...database.changed.map((path) => `  changed  ${path}`),
    ...database.removed.map((path) => `  removed  ${path}`),
    ...database.summary.map((line) => `  ${oneLine(line)}`),
  ];
  return lines.join('\n');
}

/** Nothing in a summary can begin a new line, and so none can pose as a trailer. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*\p{Cc}\s*/gu, ' ').slice(0, lineLength);
}
