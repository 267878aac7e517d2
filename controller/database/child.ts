import { databaseLabel, managedBy } from '../../constructs/labels.ts';
import { digest } from '../digest.ts';
import { appliedEntry, fingerprint, foreignFields, hasOldHands, type Foreign } from '../drift/index.ts';
import { factsOf, type Facts } from '../health/facts.ts';
import { record } from '../health/fields.ts';
import type { Ended } from '../health/symptom.ts';
import type { KubeObject, ObjectMeta, ObjectRef, OwnerReference } from '../kube/index.ts';
import { TextPool } from '../runtime/text-pool.ts';

/** Field manager of everything that is applied. */
export const fieldManager = 'plumbline';

/** Field manager of Secrets, which are created: one manager must not own fields by Apply and by Update. */
export const credentialsManager = 'plumbline-credentials';

const ourManagers: ReadonlySet<string> = new Set([fieldManager, credentialsManager]);

/** The hash of nothing: of an object that is looked at and never compared. */
export const unstatedHash = '';

/** The hash of an object that a GitOps tool applies: each write of it is looked at, whoever owns what. */
export const watchedHash = 'watched';

/** Names of what has objects: some for each of thousands of databases. */
const names = new TextPool(32_768);
/** Of ConfigMaps, such as the scripts of the members, which are the same for each database. */
const longTexts = new TextPool(128);
const long = 1000;

/** What was last found true: by an apply of ours, or by comparison. */
export interface Accepted {
  /** Of the live object then. */
  readonly fingerprint: string;
  /** Of what we stated then; {@link unstatedHash} or {@link watchedHash} for an object that we do not apply. */
  readonly statedHash: string;
  /** Who held what beside us then. */
  readonly holders: string;
  /** Of the live object then: it tells of a write under our own name within the second of ours, which the fingerprint does not. */
  readonly generation: number | undefined;
  /** It is not what we state, and drift.policy is Report: whatever happens to it is looked at, to see when it is true again. */
  readonly isDrifted: boolean;
  /** Of one that is watched: another after each write of what can be rendered. */
  readonly look?: string | undefined;
}

/** What is remembered of an object of a database: no manifest, but for one that has to be looked at. */
export interface Child {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** `namespace/name` of the database that it says it belongs to. */
  readonly databaseKey: string;
  /** The controlling owner. */
  readonly owner: Pick<OwnerReference, 'kind' | 'name' | 'uid'> | undefined;
  /** Its managedFields bear our name. */
  readonly isMadeByUs: boolean;
  readonly resourceVersion: string;
  /** Of kinds that have one. */
  readonly generation: number | undefined;
  /** A write of ours that no watch has shown yet: what the watch shows until then is older. */
  readonly awaitedVersion: string | undefined;
  readonly isDeleting: boolean;
  readonly fingerprint: string;
  readonly accepted: Accepted | undefined;
  /** The whole object, from the moment that it is not what was accepted until it was looked at. */
  readonly suspect: KubeObject | undefined;
  /** What others wrote below `spec`, and is not ours. */
  readonly foreign: readonly Foreign[];
  /** There are fields to take over, of an earlier life or of nobody, before the next apply. */
  readonly hasOldHands: boolean;
  readonly facts: Facts;
  /** How the pod of this name before it ended, where nobody had deleted it; until this one is ready. */
  readonly predecessor?: Ended | undefined;
}

/** `namespace/name` of the database that an object says it belongs to. */
export function databaseKeyOf(object: KubeObject): string | undefined {
  const name = object.metadata.labels?.[databaseLabel];
  return name === undefined ? undefined : `${object.metadata.namespace ?? ''}/${name}`;
}

export function childKey(object: { readonly kind: string; readonly metadata: ObjectRef }): string {
  return `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

export function keyOfChild({ kind, name, namespace }: Child): string {
  return childKey({ kind, metadata: { name, namespace } });
}

/** Of a Secret only labels and owners are judged: an edit of its data is an instruction, and nothing of it is applied by us. */
export function fingerprintOf(object: KubeObject): string {
  if (object.kind !== 'Secret') return fingerprint(object, fieldManager);
  return digest({ labels: object.metadata.labels, owners: object.metadata.ownerReferences });
}

/**
 * Another after each write of what can be rendered, whoever wrote it and under whatever name, and when somebody begins to apply it; of kinds that
 * have no generation after each write. What
 * they are told by their status is none: StatefulSets and disruption budgets have one often.
 */
export function lookOf({ metadata }: KubeObject): string {
  const { generation, resourceVersion, labels, annotations, managedFields = [] } = metadata;
  if (generation === undefined) return `version ${resourceVersion}`;
  const applying = managedFields.filter(({ operation }) => operation === 'Apply').map(({ manager }) => manager);
  return digest({ generation, labels, annotations, applying });
}

/** Who holds what; another value in it is theirs to choose. */
export function holdersOf(foreign: readonly Foreign[]): string {
  return foreign.map(({ path, editor }) => `${editor.manager} ${path.join('/')}`).join('\n');
}

/** The child as it is now; what was accepted of the same object stays accepted. */
export function observedChild(object: KubeObject, before: Child | undefined): Child {
  const { metadata } = object;
  const {
    name,
    namespace = '',
    uid = '',
    resourceVersion = '',
    generation,
    deletionTimestamp,
    ownerReferences,
  } = metadata;
  const earlier = before?.uid === uid ? before : undefined;
  const accepted = earlier?.accepted;
  const print = fingerprintOf(object);
  const foreign = foreignFields(object, fieldManager);
  const isKnown = accepted?.fingerprint === print && accepted.generation === generation;
  const isAccepted =
    accepted?.statedHash === watchedHash
      ? accepted.look === lookOf(object)
      : isKnown && accepted.holders === holdersOf(foreign) && !accepted.isDrifted;
  // The answer to a write of ours may be under way: then what was accepted before it is not to be trusted.
  const isOpen = !isAccepted || earlier?.suspect !== undefined;
  return {
    kind: names.share(object.kind),
    name: names.share(name),
    namespace: names.share(namespace),
    uid,
    databaseKey: names.share(databaseKeyOf(object) ?? ''),
    owner: ownerOf(ownerReferences),
    isMadeByUs: (object.metadata.managedFields ?? []).some(({ manager = '' }) => ourManagers.has(manager)),
    resourceVersion,
    generation,
    awaitedVersion: undefined,
    isDeleting: deletionTimestamp !== undefined,
    // The same text as the accepted one where it is equal.
    fingerprint: isKnown ? accepted.fingerprint : print,
    accepted,
    suspect: isOpen && isJudged(object) ? withSharedTexts(object) : undefined,
    foreign,
    hasOldHands: isApplied(object) && hasOldHands(object, fieldManager),
    facts: factsOf(object),
  };
}

function ownerOf(references: ObjectMeta['ownerReferences']): Child['owner'] {
  const owner = references?.find(({ controller }) => controller === true);
  return owner && { kind: names.share(owner.kind), name: names.share(owner.name), uid: names.share(owner.uid) };
}

/** After a start every object is kept whole until it was looked at. */
function withSharedTexts(object: KubeObject): KubeObject {
  if (object.kind !== 'ConfigMap') return object;
  const texts = Object.entries(record(object['data'])).map(([key, text]) =>
    typeof text === 'string' && text.length > long ? [key, longTexts.share(text)] : [key, text],
  );
  return object['data'] === undefined ? object : { ...object, data: Object.fromEntries(texts) };
}

/** Secrets are created, and of the other kinds that we don't state nothing is ours. */
function isApplied(object: KubeObject): boolean {
  return object.kind !== 'Secret' && isJudged(object);
}

/**
 * Pods, data claims and Jobs are made by controllers of Kubernetes: they are looked at, never compared with what we state. Claims that we state
 * bear the label that the templates of the StatefulSet don't.
 */
function isJudged(object: KubeObject): boolean {
  if (object.kind === 'Pod' || object.kind === 'Job') return false;
  if (object.kind !== 'PersistentVolumeClaim') return true;
  return isManaged(object) || appliedEntry(object, fieldManager) !== undefined;
}

function isManaged(object: KubeObject): boolean {
  return Object.entries(managedBy).every(([label, value]) => object.metadata.labels?.[label] === value);
}
