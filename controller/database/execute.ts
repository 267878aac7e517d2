import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import type { Drift } from '../drift/index.ts';
import { classify, type Kube, type KubeObject } from '../kube/index.ts';
import { observedChild, fieldManager } from './child.ts';
import type { Children } from './children.ts';
import { blockerOf, type Blocker } from './blocker.ts';
import { typeOf } from './kinds.ts';
import { planOne, type Action, type Observed } from './plan.ts';
import type { Stated } from './stated.ts';

/** What became of a plan. */
export interface Outcome {
  /** Changes by others that were put back. */
  readonly corrected: readonly Drift[];
  /** Changes by others that were left alone. */
  readonly reported: readonly Drift[];
  /** Keys of all objects that are now what we state. */
  readonly made: readonly string[];
  /** Why the plan was not carried out to its end. */
  readonly blocker: Blocker | undefined;
}

export interface Effects {
  readonly kube: Kube;
  readonly children: Children;
  /** The Secrets of a database, with new values; never logged. */
  readonly newSecrets: (resource: StoredDatabaseService) => readonly Manifest[];
}

/**
 * An apply with this version is a creation only: the server takes it as a precondition if the object exists, which no object meets, and
 * ignores it otherwise. Tried on 1.36.
 */
const createOnly = '1';

/** A Secret is created by POST, under a name of its own: one manager must not own fields by Apply and by Update. */
const credentialsManager = 'plumbline-credentials';

/** Carries a plan out, one action after the other, until one is blocked. Never throws but for an abort. */
export async function execute(
  actions: readonly Action[],
  observed: Observed,
  effects: Effects,
  signal: AbortSignal,
): Promise<Outcome> {
  const corrected: Drift[] = [];
  const reported: Drift[] = [];
  const made: string[] = [];
  const queue = [...actions];
  for (let action = queue.shift(); action !== undefined; action = queue.shift()) {
    try {
      signal.throwIfAborted();
      const step = await carryOut(action, observed, effects, signal);
      queue.unshift(...step.next);
      if (step.blocker !== undefined) return { corrected, reported, made, blocker: step.blocker };
      if (action.kind === 'remove' || action.kind === 'refuse' || action.kind === 'miss' || step.next.length > 0)
        continue;
      made.push(action.stated.key);
      (action.kind === 'accept' ? reported : corrected).push(...action.drifts);
    } catch (error) {
      signal.throwIfAborted();
      return { corrected, reported, made, blocker: blockerOf(error, describe(action)) };
    }
  }
  return { corrected, reported, made, blocker: undefined };
}

interface Step {
  readonly next: readonly Action[];
  readonly blocker?: Blocker;
}
const done: Step = { next: [] };

async function carryOut(action: Action, observed: Observed, effects: Effects, signal: AbortSignal): Promise<Step> {
  const { kube, children } = effects;
  switch (action.kind) {
    case 'create':
      return create(action, observed, effects, signal);
    case 'apply':
      children.accept(await apply(kube, action.stated.object, { uid: action.uid }, signal), action.stated.hash);
      return done;
    case 'accept':
      children.accept(action.live, action.stated.hash);
      return done;
    case 'refuse':
      return { next: [], blocker: nameTaken(action.stated, action.holder) };
    case 'miss':
      return { next: [], blocker: credentialsMissing(action.stated) };
    case 'remove': {
      const { name, namespace, uid } = action.child;
      await kube.delete(typeOf(action.child), { name, namespace }, { uid, propagationPolicy: 'Background', signal });
      return done;
    }
  }
}

async function create(
  action: Extract<Action, { kind: 'create' }>,
  observed: Observed,
  { kube, children, newSecrets }: Effects,
  signal: AbortSignal,
): Promise<Step> {
  const { object, hash } = action.stated;
  try {
    const created =
      object.kind === 'Secret'
        ? await kube.create(secretOf(action.stated, newSecrets(observed.resource)), {
            type: typeOf(object),
            fieldManager: credentialsManager,
            signal,
          })
        : await apply(kube, object, { resourceVersion: createOnly }, signal);
    children.accept(created, hash);
    return done;
  } catch (error) {
    const { kind } = classify(error);
    if (kind !== 'version-conflict' && kind !== 'already-exists') throw error;
    // Something has the name after all: it was not in our watch, since it lacks our label.
    const live = await kube.get(typeOf(object), object.metadata, { metadataOnly: object.kind === 'Secret', signal });
    return { next: planOne(observed, action.stated, observedChild(live, undefined)) };
  }
}

/** What is stated of the Secret, with the values of the new one. */
function secretOf({ object }: Stated, fresh: readonly Manifest[]): KubeObject {
  const secret = fresh.find(({ metadata }) => metadata.name === object.metadata.name);
  return { ...object, type: secret?.['type'], data: secret?.['data'] };
}

async function apply(
  kube: Kube,
  object: KubeObject,
  guard: { uid?: string; resourceVersion?: string },
  signal: AbortSignal,
) {
  const body = { ...object, metadata: { ...object.metadata, ...guard } };
  const applied = await kube.apply(body, { type: typeOf(object), fieldManager, force: true, signal });
  return applied.object;
}

function describe(action: Action): string {
  const { kind, metadata } =
    action.kind === 'remove' ? { kind: action.child.kind, metadata: action.child } : action.stated.object;
  return `${kind} ${metadata.name}`;
}

function nameTaken({ object }: Stated, holder: string): Blocker {
  const message = `${object.kind} ${object.metadata.name} is needed and belongs to ${holder}: rename or remove it, or choose another name for the database.`;
  return { reason: 'NameTaken', message, isStalled: true, retry: undefined };
}

function credentialsMissing({ object }: Stated): Blocker {
  const message = `Secret ${object.metadata.name} is gone but the database has data: create it again with the passwords that it had; new ones would not fit.`;
  return { reason: 'CredentialsMissing', message, isStalled: true, retry: undefined };
}
