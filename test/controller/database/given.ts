import assert from 'node:assert/strict';
import { apiVersion, kind, type StoredDatabaseService } from '../../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../../constructs/api/status.ts';
import type { StoredSpec } from '../../../constructs/api/spec.ts';
import { fieldManager, keyOfChild, observedChild, type Child } from '../../../controller/database/child.ts';
import { Children } from '../../../controller/database/children.ts';
import type { Observed } from '../../../controller/database/plan.ts';
import { stateWithSecrets, type Stated } from '../../../controller/database/stated.ts';
import { statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../../../controller/kube/index.ts';

export const noon = '2026-01-01T12:00:00Z';

/** DatabaseService `orders` of namespace `shop` as the API server serves it, generation 1. */
export function resource(
  spec: Partial<StoredSpec> = {},
  metadata: Partial<StoredDatabaseService['metadata']> = {},
  status?: DatabaseServiceStatus,
): StoredDatabaseService {
  return {
    apiVersion,
    kind,
    metadata: {
      name: 'orders',
      namespace: 'shop',
      uid: 'uid-orders',
      resourceVersion: '100',
      generation: 1,
      ...metadata,
    },
    spec: { engine: 'postgresql', version: '17', replicas: 1, storage: { size: '1Gi' }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** The status of a database whose generation was applied whole. */
export const settledStatus: DatabaseServiceStatus = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'Drifted',
      status: 'False',
      reason: 'InTrue',
      message: '',
      lastTransitionTime: noon,
      observedGeneration: 1,
    },
  ],
};

/** What is stated of a database for one name, such as `Service/orders-ro`. */
export function statedOf(database: StoredDatabaseService, name: string): Stated {
  const [kind = '', object = ''] = name.split('/');
  const found = stateWithSecrets(database).find(({ key }) => key === `${kind}/shop/${object}`);
  assert(found, name);
  return found;
}

export interface Live {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly metadata?: Partial<ObjectMeta>;
  /** Fields other than the metadata, over ours. */
  readonly fields?: object;
  /** Defaults to ours alone, for all that is stated. */
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The object as the API server has it after our apply. */
export function live({ object }: Stated, more: Live = {}): KubeObject {
  const entry: ManagedFieldsEntry = {
    manager: fieldManager,
    operation: 'Apply',
    time: noon,
    fieldsV1: statedTree(object),
  };
  const { uid = `uid-${object.kind}`, resourceVersion = '100', managedFields = [entry] } = more;
  const metadata = { ...object.metadata, uid, resourceVersion, managedFields, ...more.metadata };
  return { ...object, ...more.fields, metadata };
}

/** An object that was accepted as what is stated. */
export function accepted(stated: Stated, more: Live = {}, isDrifted = false): Child {
  const children = new Children(() => undefined);
  children.accept(live(stated, more), stated.hash, isDrifted);
  const child = children.get(stated.key);
  assert(child);
  return child;
}

/** An object that a watch showed, and that nobody has looked at. */
export function seen(object: KubeObject, before?: Child): Child {
  return observedChild(object, before);
}

export function observed(
  database: StoredDatabaseService,
  children: readonly Child[],
  more: Partial<Observed> = {},
): Observed {
  const byKey = new Map(children.map((child) => [keyOfChild(child), child]));
  const own = children.filter(({ databaseKey }) => databaseKey === 'shop/orders');
  return {
    resource: database,
    isHeld: false,
    applied: new Map(),
    children: own,
    find: (key) => byKey.get(key),
    states: (database) => database === 'shop/or',
    known: new Set(),
    left: new Map(),
    restraint: () => undefined,
    ...more,
  };
}
