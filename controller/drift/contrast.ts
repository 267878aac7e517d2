import { isFields, says } from './value.ts';

/** Two values of one field, before and after. */
export interface Contrast {
  readonly was: unknown;
  readonly now: unknown;
}

/**
 * What is not in both of two values: of lists the items, of maps the keys. So that a rule that somebody added to a long list is seen, and not
 * the beginning of the list. Lists that differ in order alone are given whole.
 */
export function contrast(was: unknown, now: unknown): Contrast {
  if (Array.isArray(was) && Array.isArray(now)) return ofLists(was, now);
  if (isFields(was) && isFields(now)) return ofMaps(was, now);
  return { was, now };
}

function ofLists(was: readonly unknown[], now: readonly unknown[]): Contrast {
  const rest = [...now];
  const gone = was.filter((item) => {
    const same = rest.findIndex((candidate) => says(candidate, item) && says(item, candidate));
    if (same >= 0) rest.splice(same, 1);
    return same < 0;
  });
  return gone.length === 0 && rest.length === 0 ? { was, now } : { was: gone, now: rest };
}

function ofMaps(was: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): Contrast {
  const differing = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(
    (key) => !(says(now[key], was[key]) && says(was[key], now[key])),
  );
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(differing.filter((key) => key in from).map((key) => [key, from[key]]));
  return { was: pick(was), now: pick(now) };
}
