import { usageAnnotation } from '../../constructs/labels.ts';
import { json, number, record } from './fields.ts';

/** What a member says of its volume, in coarse steps; nothing before it has. */
export interface Usage {
  readonly capacityBytes: number;
  /** In steps of five. */
  readonly usedPercent: number;
  /** By the name of a slot: how much WAL it keeps, in bytes; the power of two below, and only from 256 MiB on. */
  readonly keptBySlots: Readonly<Record<string, number>>;
}

/** From here on a volume has hardly any room left. */
const fullPercent = 95;

export function isFull({ usedPercent }: Usage): boolean {
  return usedPercent >= fullPercent;
}

export function usageOf(annotations: Readonly<Record<string, string>>): Usage {
  const stated = json(annotations[usageAnnotation]);
  const slots = Object.entries(record(stated['slots'])).flatMap(([name, bytes]) =>
    typeof bytes === 'number' ? [[name, bytes] as const] : [],
  );
  return {
    capacityBytes: number(stated, 'capacityBytes'),
    usedPercent: number(stated, 'usedPercent'),
    keptBySlots: Object.fromEntries(slots),
  };
}
