import { loseSlotsAnnotation, restartedAtAnnotation } from '../../constructs/labels.ts';
import { digestOf } from '../../constructs/digest.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { StoredSpec } from '../../constructs/api/spec.ts';
import { memberName, ordinals } from '../../constructs/names.ts';
import type { Facts } from '../health/facts.ts';
import type { Settings } from '../health/member-state.ts';
import { podTrouble } from '../health/pod-trouble.ts';
import { primaryOf } from '../health/primary.ts';
import type { Asked } from '../health/trouble.ts';
import { restartRequest, type Member, type MemberHealth, type Observation } from '../rollout/index.ts';
import { isServing, type Advances } from './advances.ts';
import { askedOf } from './asked.ts';
import type { Child } from './child.ts';
import { document } from './document.ts';
import { memberDigests } from './member-digests.ts';

type Pod = Extract<Facts, { kind: 'Pod' }>;
type Seen = { readonly child: Child; readonly facts: Pod };

/**
 * What standbys must have as high as their primary.
 * Source: https://www.postgresql.org/docs/current/hot-standby.html#HOT-STANDBY-ADMIN
 */
const standbySettings: ReadonlySet<string> = new Set([
  'max_connections',
  'max_locks_per_transaction',
  'max_prepared_transactions',
  'max_wal_senders',
  'max_worker_processes',
]);

/** How far behind a replica may be and still count as caught up, in bytes: what Patroni lets take over, `maximum_lag_on_failover`. */
const nearEnough = 1_048_576;

/**
 * The members of a database as a rollout sees them. Pure.
 *
 * @param spec what is delivered: which settings the members are to have read
 * @param advances how far they have come until now
 * @param overdueSince one that has been getting nowhere since then is overdue, in milliseconds; defaults to never
 * @param edits revisions of the template that somebody else had changed
 */
export function observedMembers(
  resource: StoredDatabaseService,
  children: readonly Child[],
  spec: StoredSpec,
  advances: Advances,
  overdueSince = -Infinity,
  edits: ReadonlySet<string> = new Set(),
): Omit<Observation, 'isSwitching'> {
  const { name, annotations } = resource.metadata;
  const set = statefulSetOf(children, name);
  const pods = new Map(
    children.flatMap((child) => (child.facts.kind === 'Pod' ? [[child.name, { child, facts: child.facts }]] : [])),
  );
  const { template, settings } = memberDigests(document({ ...resource, spec }));
  const wanted = set?.wanted ?? 0;
  const there = ordinals.filter((ordinal) => ordinal < wanted || pods.has(memberName(name, ordinal)));
  const leader = primaryOf(pods.values());
  // One that is not ready may lead all the same.
  const first = leader ?? [...pods.values()].find(({ facts }) => facts.isPrimary);
  const restartedAt = annotations?.[restartedAtAnnotation];
  const against = {
    template,
    restartedAt,
    settings,
    leader,
    position: first?.facts.position ?? 0,
    advances,
    overdueSince,
    edits,
    asked: askedOf(spec),
  };
  return {
    wanted,
    isObserved: set?.isObserved ?? false,
    hasTemplate: set?.template === template && isAskedBy(set, restartedAt),
    members: there.map((ordinal) => member(memberName(name, ordinal), ordinal, pods, against)),
    isPaused: [...pods.values()].some(({ facts }) => facts.member.isPaused),
    mayLose: namesIn(annotations?.[loseSlotsAnnotation]),
  };
}

/** Whether something is of the newest request to make the members again, if there is one. */
function isAskedBy(made: { readonly restartedAt: string | undefined }, restartedAt: string | undefined): boolean {
  return restartedAt === undefined || made.restartedAt === restartedAt;
}

function namesIn(list = ''): readonly string[] {
  return list.split(/[\s,]+/).filter(Boolean);
}

/** Members that the StatefulSet has to have; 0 without one. */
export function wantedMembers(children: readonly Child[], database: string): number {
  return statefulSetOf(children, database)?.wanted ?? 0;
}

/** Of the StatefulSet of a database; undefined without one. */
export function statefulSetOf(
  children: readonly Child[],
  name: string,
): Extract<Facts, { kind: 'StatefulSet' }> | undefined {
  for (const child of children) if (child.facts.kind === 'StatefulSet' && child.name === name) return child.facts;
  return undefined;
}

interface Against {
  /** Digests of what is delivered. */
  readonly template: string;
  readonly settings: string;
  /** By what it was asked to make the members again; undefined where nobody did. */
  readonly restartedAt: string | undefined;
  readonly leader: Seen | undefined;
  /** How far the primary is in the WAL. */
  readonly position: number;
  readonly advances: Advances;
  readonly overdueSince: number;
  readonly edits: ReadonlySet<string>;
  readonly asked: Asked;
}

function member(
  name: string,
  ordinal: number,
  pods: ReadonlyMap<string, Seen>,
  { template, settings, restartedAt, leader, position, advances, overdueSince, edits, asked }: Against,
): Member {
  const seen = pods.get(name);
  if (seen === undefined) return { ...nobody, name, ordinal };
  const { child, facts } = seen;
  const isLeader = seen === leader;
  const health = healthOf(child, facts, isLeader, asked);
  const read = facts.member.settings?.digest === settings ? facts.member.settings : undefined;
  const restart = restartOf(read);
  const isOfEdit = edits.has(facts.revision ?? '');
  const isOutdated = facts.template !== template || isOfEdit;
  const isRenewal = !isOutdated && !isAskedBy(facts, restartedAt);
  const idle = idleSince(health, child, facts, advances);
  return {
    name,
    ordinal,
    health,
    serves: health !== 'leaving' && (health === 'healthy' || facts.isServerReady),
    isLeader,
    isPrimary: facts.isPrimary,
    need: isOutdated || isRenewal ? 'replacement' : restart === undefined ? 'nothing' : 'restart',
    isOfEdit,
    isRenewal,
    isLowered: isLowered(read),
    hasRead: read !== undefined,
    isCaughtUp: health === 'healthy' && position - facts.position <= nearEnough,
    restart,
    isAsked: restart !== undefined && facts.member.askedRestart === restartRequest(restart, !isLeader),
    idleSince: idle,
    isOverdue: idle !== undefined && idle <= overdueSince,
    hasFailedToStart: facts.member.server === 'start failed',
    trouble: troubleIn(name, facts, asked),
    refused: read?.refused ?? {},
    slots: facts.member.slots?.own ?? [],
    synced: facts.member.slots?.synced ?? [],
  };
}

const nobody: Omit<Member, 'name' | 'ordinal'> = {
  health: 'absent',
  serves: false,
  isLeader: false,
  isPrimary: false,
  need: 'nothing',
  isOfEdit: false,
  isRenewal: false,
  isLowered: false,
  hasRead: false,
  isCaughtUp: false,
  restart: undefined,
  isAsked: false,
  idleSince: undefined,
  isOverdue: false,
  hasFailedToStart: false,
  trouble: undefined,
  refused: {},
  slots: [],
  synced: [],
};

/** Why it gets no further, in words for whoever has to mend it. */
function troubleIn(name: string, { symptom, member: { server } }: Pod, asked: Asked): string | undefined {
  if (symptom !== undefined) return podTrouble(name, symptom, asked).message;
  return server === '' ? undefined : `Patroni says ${server}`;
}

function healthOf({ name, isDeleting }: Child, facts: Pod, isLeader: boolean, asked: Asked): MemberHealth {
  const { isEnded, symptom, member } = facts;
  if (isDeleting || isEnded) return 'leaving';
  if (isServing(facts, isLeader)) return 'healthy';
  const isRefusing = member.server === 'start failed' || member.server === 'crashed';
  // What a member waits for may come by itself, such as the end of another container on its volume.
  const isWaiting = symptom?.kind === 'held' && !podTrouble(name, symptom, asked).isStalled;
  return (symptom !== undefined && !isWaiting) || isRefusing ? 'stuck' : 'working';
}

/** Patroni's words for a server on its way, however long that takes. */
const underWay: ReadonlySet<string> = new Set([
  'creating replica',
  'starting',
  'running custom bootstrap script',
  'initializing new cluster',
]);

/** A member that cannot start goes nowhere, whatever its server may do between two attempts. */
function idleSince(health: MemberHealth, { uid }: Child, facts: Pod, advances: Advances): number | undefined {
  const { member, movedAt } = facts;
  if (health === 'stuck') return movedAt;
  // What Patroni said before the start gate holds is of an earlier server.
  const isUnderWay = facts.symptom === undefined && (underWay.has(member.server) || member.isRestoring);
  if (health !== 'working' || isUnderWay) return undefined;
  return Math.max(movedAt, advances.get(uid)?.at ?? movedAt);
}

/** Names a need for a restart: the settings that are to be in force, in clear, and what is. */
function restartOf(settings: Settings | undefined): string | undefined {
  if (settings === undefined || Object.keys(settings.restart).length === 0) return undefined;
  return `${settings.digest}-${digestOf(settings.restart)}`;
}

function isLowered(settings: Settings | undefined): boolean {
  return Object.entries(settings?.restart ?? {}).some(
    ([name, [from, to]]) => standbySettings.has(name) && Number(to) < Number(from),
  );
}
