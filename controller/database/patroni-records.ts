import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { patroniLabel } from '../../constructs/labels.ts';
import { claimName, memberName, namesOf, ordinals } from '../../constructs/names.ts';
import { asSeen, classify, type Kube, type KubeObject, type ObjectMeta, type OwnerReference } from '../kube/index.ts';
import type { Child } from './child.ts';
import { typeOf } from './kinds.ts';
import type { Memory } from './memory.ts';
import { observedHealth } from './observed-health.ts';

const configMaps = typeOf({ kind: 'ConfigMap' });
const roleBindings = typeOf({ kind: 'RoleBinding' });

/** What is stated of Patroni's ConfigMaps: their owner, and nothing else. */
const fieldManager = 'plumbline-owner';

/** A database in one run. */
export interface Owning {
  readonly resource: StoredDatabaseService;
  readonly memory: Memory;
}

export interface OwningSeen {
  readonly children: readonly Child[];
  readonly rollout: string | undefined;
  /** Milliseconds of the wall clock. */
  readonly now: number;
  readonly lookAgainMs: number;
}

/**
 * What Patroni keeps in ConfigMaps of its own: who holds the lock, who is in step, which switchover is asked for. No watch of ours shows them, for
 * the lock changes all the time, so each call here asks for them.
 */
export class PatroniRecords {
  readonly #kube: Kube;

  constructor(kube: Kube) {
    this.#kube = kube;
  }

  /**
   * Makes them go with the database, once it runs, and again with each new spec. Who is in step is about the data and stays with it, as the passwords
   * do: otherwise a replica that lacks the last commits could become the primary of a database that is created again on its claims.
   *
   * @param seen.rollout what a rollout is about: what it asks of Patroni makes records
   * @returns when to look again, in milliseconds, for one that is not there yet; undefined where nothing is left to do
   * @throws KubeError
   */
  async own({ resource, memory }: Owning, seen: OwningSeen, signal: AbortSignal): Promise<number | undefined> {
    const { children, rollout, now, lookAgainMs } = seen;
    const { metadata, status } = resource;
    const { generation } = metadata;
    const last = memory.owned?.generation === generation ? memory.owned : undefined;
    if (last !== undefined && last.lookAgainAt === undefined) return undefined;
    if (last?.lookAgainAt !== undefined && now < last.lookAgainAt) return last.lookAgainAt - now;
    const { health } = observedHealth(resource, children, memory.status ?? status, undefined, { rollout });
    if (health.phase !== 'Running') return undefined;
    // Where an earlier process has said that it runs, it had done this before.
    const isSaid = status?.phase === 'Running' && status.observedGeneration === generation;
    const isDone = memory.status === undefined && isSaid;
    const isWhole = isDone || (await this.#own(resource, children, signal));
    // One that is missing at the second look is none that Patroni is about to make.
    const isEnd = isWhole || last !== undefined;
    memory.owned = { generation, lookAgainAt: isEnd ? undefined : now + lookAgainMs };
    return isEnd ? undefined : lookAgainMs;
  }

  /** Whether all were there that there will be. */
  async #own(resource: StoredDatabaseService, children: readonly Child[], signal: AbortSignal): Promise<boolean> {
    const { metadata, spec } = resource;
    const { patroniLeader, patroniSync } = namesOf(metadata.name);
    const owners = ownersOf(resource, children);
    const found = await this.#list(metadata, signal);
    for (const record of found) {
      const isToStay = record.metadata.name === patroniSync && spec.storage.onDelete !== 'Delete';
      await this.#setOwners(record, isToStay ? [] : owners, signal);
    }
    const isSync = (spec.durability ?? 'Async') !== 'Async';
    const needed = [patroniLeader, ...(isSync ? [patroniSync] : [])];
    return needed.every((name) => found.some((record) => record.metadata.name === name));
  }

  /**
   * Removes what an earlier database of this name left, before any member can run: its lock has no holder, and where too few of those that
   * were in step then have data now, nobody would become the primary for ever.
   *
   * @param children what there is of the database; the claims among them say which members have data
   * @throws KubeError
   */
  async sweep(
    { resource: { metadata }, memory }: Owning,
    children: readonly Child[],
    signal: AbortSignal,
  ): Promise<void> {
    if (memory.isSwept) return;
    const isStarted = children.some(({ kind }) => kind === 'StatefulSet' || kind === 'Pod');
    if (!isStarted) await this.#sweep(metadata, children, signal);
    memory.isSwept = true;
  }

  async #sweep(
    metadata: StoredDatabaseService['metadata'],
    children: readonly Child[],
    signal: AbortSignal,
  ): Promise<void> {
    const { patroniSync } = namesOf(metadata.name);
    const withData = ordinals
      .filter((ordinal) => hasData(children, claimName(metadata.name, ordinal)))
      .map((ordinal) => memberName(metadata.name, ordinal));
    for (const record of await this.#list(metadata, signal)) {
      if (isOwned(record, metadata.uid)) continue;
      const isOfUse = record.metadata.name === patroniSync && canElect(record, withData);
      if (!isOfUse) await this.#remove(record, signal);
    }
  }

  async #list({ name, namespace }: Pick<ObjectMeta, 'name' | 'namespace'>, signal: AbortSignal) {
    const { patroni, patroniLeader, patroniFailover, patroniSync } = namesOf(name);
    const labelSelector = `${patroniLabel}=${patroni}`;
    const found: KubeObject[] = [];
    for await (const { items } of this.#kube.list(configMaps, {
      namespace,
      labelSelector,
      metadataOnly: true,
      signal,
    })) {
      found.push(...items.filter((item) => [patroniLeader, patroniFailover, patroniSync].includes(item.metadata.name)));
    }
    return found;
  }

  /** A record that was removed or made again meanwhile is found at the next look. */
  async #setOwners(record: KubeObject, owners: readonly OwnerReference[], signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid = '' } = record.metadata;
    const ours = record.metadata.ownerReferences ?? [];
    const isSame = ours.length === owners.length && owners.every((owner) => ours.some((one) => one.uid === owner.uid));
    if (isSame) return;
    const body = { name, namespace, uid, ...(owners.length === 0 ? {} : { ownerReferences: owners }) };
    try {
      const stated = { apiVersion: 'v1', kind: 'ConfigMap', metadata: body };
      await this.#kube.apply(stated, { type: configMaps, fieldManager, force: true, signal });
    } catch (error) {
      if (!isOutdated(error)) throw error;
    }
  }

  async #remove({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#kube.delete(configMaps, metadata, { ...asSeen(metadata), signal });
    } catch (error) {
      if (!isOutdated(error)) throw error;
    }
  }
}

/** It is gone, another has its name, or somebody writes it again. */
function isOutdated(error: unknown): boolean {
  return ['object-missing', 'object-gone', 'object-replaced', 'version-conflict'].includes(classify(error).kind);
}

/**
 * The database, and the binding by which the members may write. An object goes when the last of its owners has gone: so these go when no member can
 * make them again any more, which one that is being ended would do at once.
 */
function ownersOf(
  { apiVersion, kind, metadata }: StoredDatabaseService,
  children: readonly Child[],
): readonly OwnerReference[] {
  const { name, uid } = metadata;
  const { members } = namesOf(name);
  const binding = children.find((child) => child.kind === roleBindings.kind && child.name === members);
  const { apiVersion: version, kind: bindingKind } = roleBindings;
  return [
    { apiVersion, kind, name, uid },
    ...(binding === undefined ? [] : [{ apiVersion: version, kind: bindingKind, name: members, uid: binding.uid }]),
  ];
}

function isOwned({ metadata }: KubeObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

function hasData(children: readonly Child[], claim: string): boolean {
  return children.some(({ name, facts }) => facts.kind === 'PersistentVolumeClaim' && name === claim && facts.hasData);
}

/**
 * Whether members with data can become the primary by a record of who was in step: the primary of then can by itself, a replica needs as many others of
 * those in step as the record says, for only together they are known to have every commit.
 * Source: Patroni, patroni/ha.py, `_is_healthiest_node`
 */
function canElect({ metadata }: KubeObject, withData: readonly string[]): boolean {
  const { leader = '', sync_standby: standbys = '', quorum = '0' } = metadata.annotations ?? {};
  const inStep = standbys.split(',').filter((name) => withData.includes(name.trim()));
  return withData.includes(leader) || inStep.length > Number(quorum);
}
