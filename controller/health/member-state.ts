import {
  askedRestartAnnotation,
  memberStatusAnnotation,
  settingsAnnotation,
  startAnnotation,
} from '../../constructs/labels.ts';
import { memberSlots, type MemberSlots } from './logical-slots.ts';
import { json, number, record, text, type Fields } from './fields.ts';

/** What a member states of itself on its pod. */
export interface MemberState {
  /** Patroni's word for its server, such as `running` or `creating replica`; empty before Patroni has spoken. */
  readonly server: string;
  readonly isStreaming: boolean;
  /** It replays WAL that it fetches from an archive. */
  readonly isRestoring: boolean;
  /** Each promotion begins the next one; 0 before it has said so. */
  readonly timeline: number;
  /** Patroni keeps out of it. */
  readonly isPaused: boolean;
  readonly settings: Settings | undefined;
  /** Why its start gate holds it back. */
  readonly gate: { readonly reason: string; readonly message: string } | undefined;
  /** The restart that was asked for last. */
  readonly askedRestart: string | undefined;
  /** Its logical slots; undefined before it has stated them. */
  readonly slots: MemberSlots | undefined;
}

/** What a member makes of the settings of the database. */
export interface Settings {
  /** Of the dynamic configuration that it has read. */
  readonly digest: string;
  /** By the name of a setting: the words with which PostgreSQL refuses its value. */
  readonly refused: Readonly<Record<string, string>>;
  /** By the name of a setting: the value in force and the one that waits for a restart. */
  readonly restart: Readonly<Record<string, readonly [from: string, to: string]>>;
}

/** Reads the annotations of a pod; what is missing or cannot be read counts as not stated. */
export function memberState(annotations: Readonly<Record<string, string>>): MemberState {
  const status = json(annotations[memberStatusAnnotation]);
  const gate = json(annotations[startAnnotation]);
  return {
    server: text(status, 'state') ?? '',
    isStreaming: text(status, 'replication_state') === 'streaming',
    isRestoring: text(status, 'replication_state') === 'in archive recovery',
    timeline: number(status, 'timeline'),
    isPaused: status['pause'] === true,
    settings: settings(json(annotations[settingsAnnotation])),
    gate:
      text(gate, 'reason') === undefined
        ? undefined
        : { reason: text(gate, 'reason') ?? '', message: text(gate, 'message') ?? '' },
    askedRestart: annotations[askedRestartAnnotation],
    slots: memberSlots(annotations),
  };
}

/** How far a member is in the WAL, in bytes; 0 before it has said so. */
export function positionOf(annotations: Readonly<Record<string, string>>): number {
  const found = json(annotations[memberStatusAnnotation])['xlog_location'];
  return typeof found === 'number' ? found : 0;
}

function settings(found: Fields): Settings | undefined {
  const digest = text(found, 'digest');
  if (digest === undefined) return undefined;
  const refused = Object.entries(record(found['refused'])).map(([name, words]) => [name, String(words)]);
  const restart = Object.entries(record(found['restart'])).flatMap(([name, values]) =>
    Array.isArray(values) ? [[name, [String(values[0]), String(values[1])]]] : [],
  );
  return { digest, refused: Object.fromEntries(refused), restart: Object.fromEntries(restart) };
}
