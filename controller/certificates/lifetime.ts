/** From when until when a certificate holds, in milliseconds since the epoch. */
export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

export const minute = 60_000;
const week = 7 * 24 * 60 * minute;

/** When a certificate is renewed: at two thirds of its life. */
export function renewalTime({ notBefore, notAfter }: Lifetime): number {
  return notBefore + ((notAfter - notBefore) * 2) / 3;
}

/** From when on nobody can rely on a certificate's being renewed: in the last sixth of its life, and not before its last week. */
export function expiringTime({ notBefore, notAfter }: Lifetime): number {
  return notAfter - Math.min(week, (notAfter - notBefore) / 6);
}

/** Reads two times of RFC 3339; undefined where there is one that is none, or where they make no life. */
export function lifetimeOf(notBefore: unknown, notAfter: unknown): Lifetime | undefined {
  const [from, until] = [timeOf(notBefore), timeOf(notAfter)];
  return from < until ? { notBefore: from, notAfter: until } : undefined;
}

function timeOf(text: unknown): number {
  return typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : NaN;
}
