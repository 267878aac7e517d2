/**
 * One step of a path as `fieldsV1` writes it: `f:<field>`, `k:<keys as JSON>`, `v:<value as JSON>` or `i:<index>`.
 * Source: https://github.com/kubernetes-sigs/structured-merge-diff/blob/master/fieldpath/serialize-pe.go
 */
export type Step = string;

/** A path from the root of an object, outermost step first. */
export type FieldPath = readonly Step[];

export const field = (name: string): Step => `f:${name}`;

/** The step to the item of a list that has these key fields; keys are written in the order of the alphabet, as the server does. */
export function item(keys: Readonly<Record<string, unknown>>): Step {
  return `k:${JSON.stringify(Object.fromEntries(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1))))}`;
}

/** The path as people write it: `spec.template.spec.containers[name=postgres].image`. */
export function readable(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    const rest = step.slice(2);
    switch (step.charAt(0)) {
      case 'f':
        text += /^[A-Za-z_][\w-]*$/.test(rest) ? `${text === '' ? '' : '.'}${rest}` : `[${rest}]`;
        break;
      case 'k':
        text += `[${keys(rest)}]`;
        break;
      default:
        text += `[${rest}]`;
    }
  }
  return text;
}

/** Whether a field, as people write it, is another or below it. */
export function isWithin(field: string, outer: string): boolean {
  return field === outer || (field.startsWith(outer) && /^[.[]/.test(field.slice(outer.length)));
}

function keys(json: string): string {
  const parsed: unknown = JSON.parse(json);
  return Object.entries(parsed as Record<string, unknown>)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',');
}
