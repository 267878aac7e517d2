import type { Difference } from '../drift/index.ts';

/** What would become of one object. */
export interface Foreseen {
  /** Such as `StatefulSet/orders`. */
  readonly object: string;
  readonly action: 'create' | 'change' | 'remove' | 'fail';
  /** Empty but for a change. What receipts hide is hidden here. */
  readonly fields: readonly Difference[];
  /** Why it would fail; undefined otherwise. */
  readonly why: string | undefined;
  /** Whom it would restart, in a sentence; undefined where no pod template would be changed. */
  readonly restarts?: string | undefined;
}

/** Line by line what people read; empty when nothing would change. */
export function foreseenInWords(foreseen: readonly Foreseen[]): string {
  return foreseen.flatMap(lines).join('\n');
}

function lines({ object, action, fields, why, restarts }: Foreseen): readonly string[] {
  switch (action) {
    case 'create':
      return [`${object} would be created`];
    case 'remove':
      return [`${object} would be removed`];
    case 'fail':
      return [`${object} could not be brought to what is stated: ${why}`];
    case 'change':
      return [
        `${object} would be changed`,
        ...[...fields.map(inOneLine), ...(restarts === undefined ? [] : [restarts])].map((line) => `  ${line}`),
      ];
  }
}

function inOneLine({ field, was, now }: Difference): string {
  if (was === undefined) return `${field}: ${now} added`;
  if (now === undefined) return `${field}: ${was} removed`;
  return `${field}: ${was} → ${now}`;
}
