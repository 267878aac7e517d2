import { hash } from 'node:crypto';

const bytes = 16;

/** 128 bits over a value; equal for equal JSON. Not cut out of a longer text, which would stay in memory as long. */
export function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '', 'buffer').toString('base64url', 0, bytes);
}
