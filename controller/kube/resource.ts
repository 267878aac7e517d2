/** One entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  /** Whole seconds, RFC 3339. */
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339; present while the object waits for its finalizers. */
  readonly deletionTimestamp?: string;
  readonly [rest: string]: unknown;
}

/** What binds a write to an object as it was seen: of one that was replaced or changed since, it is refused. */
export function asSeen({ uid = '', resourceVersion = '' }: Pick<ObjectMeta, 'uid' | 'resourceVersion'>): Seen {
  return { uid, resourceVersion };
}

export interface Seen {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Any object of the API, as JSON.parse gives it: nothing renamed, filtered or converted. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [rest: string]: unknown;
}

declare const OBJECT: unique symbol;

/**
 * How the API names a resource; the caller keeps the table of those that it uses.
 * `T` is what its objects look like to the type checker: `const SECRETS: ResourceType<Secret> = {…}` makes
 * `kube.get(SECRETS, …)` a Secret. Nothing is checked when they are read but that they are objects of the API.
 */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** Never set; holds the type. */
  readonly [OBJECT]?: T;
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Lower-case plural, as in the path. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Which object of a type. */
export interface ObjectRef {
  readonly name: string;
  /** Required for a namespaced type, ignored for others. */
  readonly namespace?: string | undefined;
}

/** `namespace/name`, or `name` for an object without namespace. */
export type ObjectKey = string;

export function keyOf(ref: ObjectRef): ObjectKey {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The opposite of {@link keyOf}. */
export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Path of all objects of a type, in one namespace or, without one, in all. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`;
  const scope = type.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${type.plural}`;
}

/**
 * Path of one object or of its subresource (`status`, `scale`, …).
 * @throws TypeError if the type is namespaced and the reference has no namespace, or if the name is empty: without that
 *   check the request would go to the collection.
 */
export function objectPath(type: ResourceType, ref: ObjectRef, subresource?: string): string {
  if (ref.name === '') throw new TypeError(`a ${type.kind} without a name has no path`);
  if (type.namespaced && (ref.namespace === undefined || ref.namespace === '')) {
    throw new TypeError(`${type.kind} ${ref.name} needs a namespace`);
  }
  const path = `${collectionPath(type, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
