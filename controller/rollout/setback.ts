import type { Refused, RevisionTrial } from './history.ts';
import type { Member, Observation } from './member.ts';

/** Why a revision is taken back. */
export type Setback = Pick<Refused, 'reason' | 'message'>;

/** A server that does not start says so for good; only what it waits for, a volume say, may take a moment. */
const startPatienceMs = 20_000;

/** What has come of a revision so far. */
export type Trial =
  | { readonly kind: 'good' }
  /** A member gets nowhere; from `failsAt` on, in milliseconds, that is a failure. */
  | { readonly kind: 'doubtful'; readonly failsAt: number; readonly message: string }
  | { readonly kind: 'failed'; readonly setback: Setback };

/** What a revision is judged by beside its members; times in milliseconds. */
export interface Trying {
  readonly now: number;
  /** When it was delivered. */
  readonly since: number;
  /** How long a member may get nowhere. */
  readonly patienceMs: number;
  /** Names of members that say nothing of it, however they are. */
  readonly sick: readonly string[];
}

/** Judges a revision that is being rolled out, by the members that are on it. Pure. */
export function judgeTrial(seen: Observation, { now, since, patienceMs, sick }: Trying): Trial {
  // A member that still is as it was before says nothing of the revision: what it refuses, the new image may have.
  const members = seen.members.filter(({ need }) => need !== 'replacement');
  const refusing = members.find(({ refused }) => Object.keys(refused).length > 0);
  if (refusing !== undefined) {
    return { kind: 'failed', setback: { reason: 'ConfigurationRefused', message: quote(refusing) } };
  }
  const failures = members
    .filter(({ name, idleSince }) => idleSince !== undefined && !sick.includes(name))
    .map(({ name, idleSince = 0, hasFailedToStart, trouble = 'it is not ready' }) => {
      const patience = hasFailedToStart ? Math.min(startPatienceMs, patienceMs) : patienceMs;
      return { failsAt: Math.max(idleSince, since) + patience, message: `${name} gets nowhere: ${trouble}` };
    });
  const [first] = failures.toSorted((a, b) => a.failsAt - b.failsAt);
  if (first === undefined) return { kind: 'good' };
  if (now < first.failsAt) return { kind: 'doubtful', ...first };
  return { kind: 'failed', setback: { reason: 'RolloutFailed', message: first.message } };
}

/**
 * Names of the members that were sick when what was stable was left: they say nothing of what is tried before they were healthy once. What a trial
 * itself has brought down, or one that was given up for another, is not among them. Pure.
 *
 * @param trial that is under way; undefined where nothing was tried
 * @param seen by what was delivered until now
 */
export function sickBefore(trial: RevisionTrial | undefined, seen: Observation): readonly string[] {
  const isSick = ({ name, health, need, idleSince }: Member): boolean =>
    trial === undefined
      ? idleSince !== undefined && need !== 'replacement'
      : health !== 'healthy' && (trial.sick ?? []).includes(name);
  return seen.members.filter(isSick).map(({ name }) => name);
}

function quote({ name, refused }: Member): string {
  const [setting = '', words = ''] = Object.entries(refused)[0] ?? [];
  const others = Object.keys(refused).length - 1;
  const more = others === 0 ? '' : ` (and ${others} more)`;
  return `PostgreSQL on ${name} refuses spec.parameters.${setting}${more}: ${words}`;
}
