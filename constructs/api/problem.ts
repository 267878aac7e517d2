/** One thing that is wrong with a document: what, where, by which rule, and what to do. */
export interface Problem {
  /** The field as people write it: `spec.storage.size`, `spec.parameters.max_connections`; empty for the document itself. */
  readonly field: string;
  /** The value as it stands in the document, shortened; undefined where it is missing. */
  readonly value: string | undefined;
  /** The rule that it breaks, in words. */
  readonly rule: string;
  /** What to write instead; empty where the rule says it. */
  readonly remedy: string;
  /** Line of the field in its file, from 1. */
  readonly line?: number;
}

const longest = 80;

/** The value as one short line: text in quotes, so that `"17"` and `17` differ. */
export function show(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** One line for people: field, value, rule, remedy. */
export function sentence(problem: Problem): string {
  const { field, value, rule, remedy } = problem;
  return [field, field && ': ', value === undefined ? '' : `${value} `, rule, remedy && `; ${remedy}`].join('');
}

/** `spec` and `size` → `spec.size`; keys that are no plain word are bracketed, list positions are `[0]`. */
export function join(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[A-Za-z_][\w-]*$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Whether a field is another one or stands inside it. */
export function isWithin(field: string, outer: string): boolean {
  return field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
}
