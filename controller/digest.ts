import { hash } from 'node:crypto';

const characters = 22;

/**
 * At least 128 bits over a value; equal for equal JSON. Histories in clusters hold such texts: spelled otherwise they would tell that everything
 * was stated differently before. A copy, since what is cut out of a longer text keeps that in memory.
 */
export function digest(value: unknown): string {
  const text = hash('sha256', JSON.stringify(value) ?? '', 'base64url');
  return Buffer.from(text, 'latin1').toString('latin1', 0, characters);
}
