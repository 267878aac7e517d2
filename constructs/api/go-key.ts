import { isScalar } from 'yaml';

/** Whether a key of a map is `<<`, written so that Go takes it for a merge. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && (key.type === 'PLAIN' || key.tag === 'tag:yaml.org,2002:merge');
}

/** The text of a key that was read as a scalar, as JSON has it; undefined for what cannot be a key. */
export function keyText(key: unknown): string | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'boolean') return String(key);
  return typeof key === 'number' ? numberText(key) : undefined;
}

/** The shortest decimal that is the same 32-bit float, for so Kubernetes writes a key such as 1.10. */
function numberText(key: number): string {
  if (Number.isInteger(key)) return String(key);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find(
    (count) => Math.fround(Number(key.toPrecision(count))) === Math.fround(key),
  );
  return String(Number(key.toPrecision(digits ?? 9)));
}
