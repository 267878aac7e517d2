import { firstFew } from '../../constructs/first-few.ts';
import { hiddenValue } from './disclosure.ts';
import { isAddition, isCreation, managedFields, type Drift } from './drift.ts';
import { unknownManager, type Editor } from './editor.ts';

/** What one editor did to one object: what people want to read as one thing, though it may be many fields. */
export interface Episode<D extends Drift = Drift> {
  readonly object: string;
  readonly editor: Editor;
  /** Never empty. */
  readonly drifts: readonly D[];
}

const longestList = 3;

/** Puts together what belongs together, in the order in which it was found. */
export function episodes<D extends Drift>(drifts: readonly D[]): readonly Episode<D>[] {
  const keyOf = (drift: D): string => {
    const { object, editor } = drift;
    return JSON.stringify([object, editor.manager, editor.operation, isAddition(drift)]);
  };
  return [...Map.groupBy(drifts, keyOf).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ object: first.object, editor: first.editor, drifts: group }];
  });
}

/** An episode as one sentence that holds no secret. */
export function inWords({ object, editor, drifts }: Episode): string {
  const who = whoIs(editor);
  const [first, ...others] = drifts;
  if (first === undefined) return '';
  if (first.field === '') return isCreation(first) ? `${who} made ${object} again.` : `${who} deleted ${object}.`;
  if (first.field === managedFields) return `${who} wiped the managedFields of ${object}.`;
  const of = isAddition(first) ? 'to' : 'of';
  if (others.length === 0) return `${who} ${verb(first)} ${first.field} ${of} ${object}${values(first)}.`;
  const list = drifts.map((drift) => `${drift.field}${values(drift)}`);
  return `${who} ${verb(first)} ${drifts.length} fields ${of} ${object}: ${firstFew(list, longestList)}.`;
}

function whoIs({ manager, operation }: Editor): string {
  const name = manager === unknownManager ? 'Somebody' : manager;
  // Of a file in Git.
  return operation.startsWith('Commit ') ? `${name} (${operation.toLowerCase()})` : name;
}

function verb(drift: Drift): string {
  if (drift.now === undefined) return 'removed';
  return isAddition(drift) ? 'added' : 'changed';
}

function values({ was, now }: Drift): string {
  if (now === undefined) return '';
  if (was === undefined) return now === hiddenValue ? ' (its value is not shown)' : ` (${quoted(now)})`;
  return was === hiddenValue || now === hiddenValue
    ? ' (its values are not shown)'
    : ` from ${quoted(was)} to ${quoted(now)}`;
}

/** An empty text would leave a hole in the sentence. */
function quoted(value: string | undefined): string {
  return value === undefined || value === '' ? '""' : value;
}
