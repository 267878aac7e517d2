import { slotsAnnotation } from '../../constructs/labels.ts';
import { json, records, text } from './fields.ts';

/** A logical replication slot: somebody's place in the stream of changes. */
export interface LogicalSlot {
  readonly name: string;
  /** Whose changes it gives. */
  readonly database: string;
  /** Of the decoding, such as `pgoutput`. */
  readonly plugin: string;
  /** PostgreSQL 17 keeps it in step on replicas. */
  readonly isFailover: boolean;
}

/** The logical slots of a member. */
export interface MemberSlots {
  /** Made there, in the order of their names. */
  readonly own: readonly LogicalSlot[];
  /** Names of those of the primary that it could go on with. */
  readonly synced: readonly string[];
}

/** Reads what the steward of a member states; undefined before it has. */
export function memberSlots(annotations: Readonly<Record<string, string>>): MemberSlots | undefined {
  if (annotations[slotsAnnotation] === undefined) return undefined;
  const { own, synced } = json(annotations[slotsAnnotation]);
  return {
    own: records(own).map((slot) => ({
      name: text(slot, 'name') ?? '',
      database: text(slot, 'database') ?? '',
      plugin: text(slot, 'plugin') ?? '',
      isFailover: slot['failover'] === true,
    })),
    synced: Array.isArray(synced) ? synced.map(String) : [],
  };
}

/** Such as `logical slot cdc (database app, plugin pgoutput)`. */
export function slotInWords({ name, database, plugin }: LogicalSlot): string {
  return `logical slot ${name} (database ${database}, plugin ${plugin})`;
}

/** Of one slot or more. */
export function slotsInWords(slots: readonly LogicalSlot[]): string {
  return slots.map(slotInWords).join(' and ');
}
