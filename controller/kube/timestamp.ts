/** Epoch milliseconds as the API writes times: RFC 3339 with whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
