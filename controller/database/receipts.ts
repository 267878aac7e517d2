import type { DatabaseServiceStatus, DriftReceipt } from '../../constructs/api/status.ts';
import { episodes, type Drift, type Episode } from '../drift/index.ts';
import type { Told, Untold } from './memory.ts';

type DriftStatus = NonNullable<DatabaseServiceStatus['drift']>;

const longestList = 10;
/** One edit of many fields must not push all others out. */
const longestEpisode = 4;

/** The receipts with the new ones in front. */
export function withReceipts(
  { corrected, reported }: Untold,
  before: DriftStatus | undefined,
  now: string,
): DriftStatus | undefined {
  if (corrected.length + reported.length === 0) return before;
  const fresh = [...receiptsOf(corrected, 'Corrected', now), ...receiptsOf(reported, 'Reported', now)];
  return {
    corrected: (before?.corrected ?? 0) + corrected.length,
    receipts: [...fresh, ...(before?.receipts ?? [])].slice(0, longestList),
  };
}

/** Whether a change that is left alone was told before: in this process by what it left last, otherwise by the receipts. */
export function isTold(drift: Drift, left: readonly Drift[] | undefined, status: DriftStatus | undefined): boolean {
  if (left !== undefined) return left.some((told) => isSameDrift(told, drift));
  return (status?.receipts ?? []).some((receipt) => receipt.action === 'Reported' && isReceiptOf(receipt, drift));
}

function isSameDrift(a: Drift, b: Drift): boolean {
  return isSameChange(a, b) && a.editor.manager === b.editor.manager && a.editor.time === b.editor.time;
}

function isReceiptOf(receipt: DriftReceipt, drift: Drift): boolean {
  const { manager, time } = drift.editor;
  return isSameChange(receipt, drift) && receipt.manager === manager && (time === undefined || receipt.time === time);
}

type Changed = Pick<Drift, 'object' | 'field'> & Partial<Pick<Drift, 'was' | 'now'>>;

function isSameChange(a: Changed, b: Changed): boolean {
  return a.object === b.object && a.field === b.field && a.was === b.was && a.now === b.now;
}

function receiptsOf(drifts: readonly Told[], action: DriftReceipt['action'], now: string): readonly DriftReceipt[] {
  return episodes(drifts).flatMap((episode) => receipts(episode, action, now));
}

function receipts({ drifts }: Episode<Told>, action: DriftReceipt['action'], seen: string): readonly DriftReceipt[] {
  const shown = drifts.length > longestEpisode ? drifts.slice(0, longestEpisode - 1) : drifts;
  const rest = drifts.slice(shown.length);
  const each = shown.map((drift) => receipt(drift, action, seen));
  const [next] = rest;
  if (next === undefined) return each;
  const field = `${next.field} and ${rest.length - 1} more fields`;
  return [...each, receipt({ ...next, field, was: undefined, now: undefined }, action, seen)];
}

function receipt(
  { object, field, was, now, editor, cost }: Told,
  action: DriftReceipt['action'],
  seen: string,
): DriftReceipt {
  const { manager, operation } = editor;
  const said = Object.fromEntries(Object.entries({ was, now, cost }).filter(([, value]) => value !== undefined));
  return { time: editor.time ?? seen, object, field, ...said, manager, operation, action };
}
