import type { StatusCause } from './kube-error.ts';

/** Another field manager that owns a field which an apply without force wanted to set. */
export interface Rival {
  readonly manager: string;
  readonly subresource?: string | undefined;
  readonly apiVersion?: string | undefined;
  /** RFC 3339, whole seconds; only of managers that wrote without apply. */
  readonly time?: string | undefined;
  /** `Update` if the server named the version, which it does for those alone. */
  readonly operation: 'Apply' | 'Update';
  /** Path of the field, such as `.spec.replicas`. */
  readonly field: string;
}

/**
 * Reads a conflict's causes. The text is written by printManager in apimachinery,
 * pkg/util/managedfields/internal/conflict.go: `conflict with "m" with subresource "s" using v at t`, all but the
 * first part optional.
 * @returns sorted by field and manager: the server's order differs from one answer to the next.
 */
export function rivalsOf(causes: readonly StatusCause[]): readonly Rival[] {
  const rivals = causes.flatMap((cause): readonly Rival[] => {
    if (cause.reason !== FIELD_MANAGER_CONFLICT) return [];
    const match = CONFLICT.exec(cause.message ?? '');
    return [
      {
        manager: unquote(match?.groups?.['manager']) ?? 'unknown',
        subresource: unquote(match?.groups?.['subresource']),
        apiVersion: match?.groups?.['version'],
        time: match?.groups?.['time'],
        operation: match?.groups?.['version'] === undefined ? 'Apply' : 'Update',
        field: cause.field ?? '',
      },
    ];
  });
  return rivals.sort((a, b) => compare(a.field, b.field) || compare(a.manager, b.manager));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export const FIELD_MANAGER_CONFLICT = 'FieldManagerConflict';

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const CONFLICT = new RegExp(
  `^conflict with (?<manager>${QUOTED})(?: with subresource (?<subresource>${QUOTED}))?` +
    String.raw`(?: using (?<version>\S+))?(?: at (?<time>\S+))?$`,
);

/** Go's %q is JSON but for rare escapes such as \x00; those names are given as they came. */
function unquote(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
