/**
 * How Kubernetes merges the lists and maps of the kinds that we render. Source: the `listType`, `listMapKey` and `structType` markers in
 * k8s.io/api (core/v1, apps/v1, batch/v1, networking/v1, policy/v1, rbac/v1) and apimachinery meta/v1 types.go.
 */
const keyed: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  ownerReferences: ['uid'],
};

const servicePorts = ['port', 'protocol'];
const containerPorts = ['containerPort', 'protocol'];

/** Lists of unique values, merged value by value. */
const sets: ReadonlySet<string> = new Set(['finalizers']);

/** Lists whose items have one owner each as a whole. */
const atomicItems: ReadonlySet<string> = new Set(['ownerReferences']);

/** Maps that have one owner as a whole. */
const atomicMaps: ReadonlySet<string> = new Set([
  'selector',
  'nodeSelector',
  'podSelector',
  'namespaceSelector',
  'labelSelector',
  'roleRef',
  'fieldRef',
  'resourceFieldRef',
  'configMapKeyRef',
  'secretKeyRef',
  'secretRef',
]);

/** The key fields of a list, `set` for a list of unique values, undefined for a list that has one owner as a whole. */
export function listKeys(path: readonly string[]): readonly string[] | 'set' | undefined {
  const name = path.at(-1) ?? '';
  if (name === 'ports') {
    if (path.length === 2) return servicePorts;
    return path.includes('containers') || path.includes('initContainers') ? containerPorts : undefined;
  }
  // Of a ServiceAccount it has one owner as a whole, of a pod it has not.
  if (name === 'imagePullSecrets' && path.length === 1) return undefined;
  if (sets.has(name)) return 'set';
  return keyed[name];
}

export function isAtomicMap(path: readonly string[]): boolean {
  return atomicMaps.has(path.at(-1) ?? '');
}

export function hasAtomicItems(path: readonly string[]): boolean {
  return atomicItems.has(path.at(-1) ?? '');
}
