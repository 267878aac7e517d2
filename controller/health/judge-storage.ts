import type { Usage } from './usage.ts';
import type { Verdict } from './judge.ts';

/** A member and what it says of its volume. */
export interface StorageSeen {
  readonly name: string;
  readonly usage: Usage;
}

/** From here on a volume is nearly full. What members say comes in steps of five. */
const criticalPercent = 85;
/** A slot that keeps this much of the volume is why it is full. */
const blamedShare = 1 / 8;

/** Judges whether a volume of a member is nearly full, and whether a slot is why. Pure; there is exactly one reason. */
export function judgeStorage(members: readonly StorageSeen[]): Verdict {
  const [fullest] = members
    .filter(({ usage }) => usage.usedPercent >= criticalPercent)
    .toSorted((a, b) => b.usage.usedPercent - a.usage.usedPercent);
  if (fullest === undefined) {
    return { holds: false, reason: 'RoomLeft', message: 'No volume of a member is nearly full.' };
  }
  const { name, usage } = fullest;
  const is = `The volume of ${name} is ${usage.usedPercent} % full`;
  const [slot, bytes] = Object.entries(usage.keptBySlots).toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
  if (bytes < usage.capacityBytes * blamedShare) {
    return { holds: true, reason: 'VolumeNearlyFull', message: `${is}: free room on it.` };
  }
  const message = `${is}, and slot ${slot} keeps at least ${bytes} bytes (${mebibytes(bytes)} MiB) of WAL on it: have it read, or drop it on ${name}. A larger volume would fill as well.`;
  return { holds: true, reason: 'SlotKeepsWal', message };
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2);
}
