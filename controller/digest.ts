import { hash } from 'node:crypto';

/** 128 bits over a value; equal for equal JSON. */
export function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '', 'base64url').slice(0, 22);
}
