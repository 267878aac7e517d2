import { isDeepStrictEqual } from 'node:util';
import type { Drift } from '../../../controller/drift/index.ts';
import type { Expected } from './expectation.ts';
import type { Author } from './writers.ts';

const nobody: Author = { manager: 'unknown', operation: 'Remove' };

/** What is wrong with what was told of an edit; undefined when it is what the edit did. */
export function wrongIn(told: readonly Drift[], expected: readonly Expected[], author: Author): string | undefined {
  const wanted = expected.map((one) => wantedWords(one, author)).sort();
  const got = told
    .map((one) => {
      const like = expected.find(({ field }) => field === one.field);
      return toldWords(one, like === undefined || like.was !== undefined || like.now !== undefined);
    })
    .sort();
  return isDeepStrictEqual(wanted, got) ? undefined : `expected ${wanted.join('; ')}; told ${got.join('; ')}`;
}

/**
 * An item under another key is gone, and nobody can be named; or somebody is seen to have renamed it, who can. That it stands there under its new
 * key may be told as an addition, or belong to the change; so may what was written in the place of a field.
 */
export function wrongInMoved(
  told: readonly Drift[],
  changes: readonly Expected[],
  additions: readonly Expected[],
  author: Author,
): string | undefined {
  const isBy = ({ editor }: Drift, { manager, operation }: Author) =>
    editor.manager === manager && editor.operation === operation;
  const isRight = (one: Drift): boolean => {
    if (changes.some(({ field }) => field === one.field)) return isBy(one, author) || isBy(one, nobody);
    return additions.some(({ field }) => field === one.field) && isBy(one, author);
  };
  const isWhole = changes.every(({ field }) => told.some((one) => one.field === field));
  return isWhole && told.every(isRight) ? undefined : `told ${told.map((one) => toldWords(one)).join('; ')}`;
}

function wantedWords({ field, kind, was, now }: Expected, author: Author): string {
  const { manager, operation } = kind === 'removed' ? nobody : author;
  return `${field} by ${manager} (${operation})${values(was, now)}`;
}

export function toldWords({ field, was, now, editor }: Drift, withValues = true): string {
  return `${field} by ${editor.manager} (${editor.operation})${withValues ? values(was, now) : ''}`;
}

function values(was: string | undefined, now: string | undefined): string {
  return was === undefined && now === undefined ? '' : ` from ${was ?? 'nothing'} to ${now ?? 'nothing'}`;
}
