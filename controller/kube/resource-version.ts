/**
 * Orders two resource versions of one resource type.
 * Since Kubernetes 1.35 they are documented to be decimal numbers that can be compared (KEP-5504); before, etcd's
 * revisions always were. They may exceed 2^53, so they are compared as text.
 * @returns undefined if either is not a plain decimal number (an aggregated API may use what it likes).
 */
export function compareResourceVersions(a: string, b: string): -1 | 0 | 1 | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a === b) return 0;
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}

const DECIMAL = /^[1-9][0-9]*$/;

/** Whether `got` comes before `seen`: the server has lost history, as after a restored backup of etcd. */
export function isOlder(got: string | undefined, seen: string | undefined): boolean {
  return got !== undefined && seen !== undefined && compareResourceVersions(got, seen) === -1;
}
