import { claimName, memberName, ordinals } from '../../constructs/names.ts';
import type { Facts } from './facts.ts';
import type { Hindrance } from './judge.ts';
import { podTrouble, uncreated } from './pod-trouble.ts';
import { refusedPods } from './refused-pods.ts';
import type { Ended } from './symptom.ts';
import { isFull } from './usage.ts';

/** Why members do not run, though everything that is stated was applied. */
export type Trouble = Hindrance;

/** What trouble is told from. */
export interface Plight {
  readonly database: string;
  /** Members that the spec asks for. */
  readonly wanted: number;
  readonly statefulSet: Extract<Facts, { kind: 'StatefulSet' }> | undefined;
  /** In the order of their names. */
  readonly pods: readonly PodSeen[];
  readonly claims: ReadonlyMap<string, Extract<Facts, { kind: 'PersistentVolumeClaim' }>>;
  /** What Kubernetes says of the object that was unexplained, the first by its words first. */
  readonly complaints: readonly Complaint[];
  readonly asked: Asked;
}

type PodFacts = Extract<Facts, { kind: 'Pod' }>;

export interface PodSeen {
  readonly name: string;
  readonly facts: PodFacts;
  /** How the pod of this name before it ended, where nobody had deleted it. */
  readonly predecessor?: Ended | undefined;
}

/** What the spec asks of the cluster, as people write it. */
export interface Asked {
  readonly cpu: string;
  readonly memory: string;
  readonly storage: string;
}

/** A Warning in an Event of an object. */
export interface Complaint {
  readonly kind: Unexplained['kind'];
  /** Of the object. */
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

/** An object that gets nowhere, and whose reason stands in no object, but in Events alone. */
export interface Unexplained {
  readonly kind: 'StatefulSet' | 'PersistentVolumeClaim' | 'Pod';
  readonly name: string;
}

/** The first trouble that there is, from the volumes by the pods to what runs in them. Pure. */
export function troubleOf(plight: Plight): Trouble | undefined {
  return volumeTrouble(plight) ?? absentPods(plight) ?? memberTrouble(plight);
}

/** What has to be asked about, for nothing that is watched says why it gets nowhere. Pure. */
export function unexplained(plight: Plight): Unexplained | undefined {
  const claim = pendingClaims(plight).find(({ pod, facts }) => facts.storageClass && waitsForVolume(pod));
  if (claim !== undefined) return { kind: 'PersistentVolumeClaim', name: claim.name };
  if (isShortOfPods(plight)) return { kind: 'StatefulSet', name: plight.database };
  const creating = plight.pods.find(({ facts }) => facts.isCreating);
  return creating && { kind: 'Pod', name: creating.name };
}

function volumeTrouble(plight: Plight): Trouble | undefined {
  for (const { name, facts, pod } of pendingClaims(plight)) {
    if (facts.storageClass === undefined) return noDefaultClass(name);
    const complaint = plight.complaints.find((one) => one.kind === 'PersistentVolumeClaim' && one.name === name);
    if (complaint === undefined || !waitsForVolume(pod)) continue;
    if (/storageclass\S* "[^"]*" not found/.test(complaint.message)) return classNotFound(name, facts.storageClass);
    return stalled(
      'VolumeNotProvisioned',
      `PersistentVolumeClaim ${name} (${plight.asked.storage} of class ${facts.storageClass}) gets no volume: ${complaint.message} Mend that, or choose another spec.storage for a new database.`,
    );
  }
  return undefined;
}

function noDefaultClass(claim: string): Trouble {
  return stalled(
    'NoDefaultStorageClass',
    `PersistentVolumeClaim ${claim} names no class and the cluster has no default StorageClass: make one the default, or create the database anew with spec.storage.storageClass.`,
  );
}

function classNotFound(claim: string, storageClass: string): Trouble {
  return stalled(
    'StorageClassNotFound',
    `StorageClass ${storageClass}, which PersistentVolumeClaim ${claim} asks for, does not exist: create it, or create the database anew with another spec.storage.storageClass.`,
  );
}

/** Claims of members that wait for a volume, in the order of the members. */
function pendingClaims({ database, wanted, claims, pods }: Plight) {
  return ordinals.slice(0, wanted).flatMap((ordinal) => {
    const name = claimName(database, ordinal);
    const facts = claims.get(name);
    const pod = pods.find((one) => one.name === memberName(database, ordinal))?.facts;
    return facts?.isPending ? [{ name, facts, pod }] : [];
  });
}

/** A claim may wait for its pod instead: until that is there and has a node. A pod that is ready, or whose containers are being created, has its volume. */
function waitsForVolume(pod: PodFacts | undefined): boolean {
  if (pod === undefined || pod.isReady || pod.isCreating) return false;
  if (pod.symptom === undefined) return true;
  return pod.symptom.kind === 'unscheduled' && /volume|storageclass/i.test(pod.symptom.message);
}

function isShortOfPods({ statefulSet, pods }: Plight): boolean {
  return statefulSet !== undefined && pods.length < statefulSet.wanted;
}

function absentPods(plight: Plight): Trouble | undefined {
  const complaint = plight.complaints.find(({ kind }) => kind === 'StatefulSet');
  return complaint && isShortOfPods(plight) ? refusedPods(complaint.message) : undefined;
}

function memberTrouble({ pods, asked, database, complaints }: Plight): Trouble | undefined {
  for (const { name, facts, predecessor } of pods) {
    if (facts.symptom !== undefined) return podTrouble(name, facts.symptom, asked);
    if (facts.isReady) continue;
    const claim = claimName(database, Number(name.slice(database.length + 1)));
    const said = complaints.filter((one) => facts.isCreating && one.kind === 'Pod' && one.name === name);
    const trouble = uncreated(name, claim, said);
    if (trouble !== undefined) return trouble;
    if (isFull(facts.usage)) {
      return stalled(
        'VolumeFull',
        `The volume of ${name} (PersistentVolumeClaim ${claim}) is full: free room on it or let it grow; PostgreSQL then starts by itself.`,
      );
    }
    if (predecessor !== undefined) return podTrouble(name, predecessor, asked);
  }
  return undefined;
}

function stalled(reason: Trouble['reason'], message: string): Trouble {
  return { reason, message, isStalled: true };
}
