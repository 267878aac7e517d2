/** How long a test waits for what takes seconds at most: only something broken takes longer, also on a machine that does much else. */
export const patienceMs = 120_000;

/** The same for `kubectl wait` and `kubectl delete`. */
export const patience = `--timeout=${patienceMs / 1000}s`;
