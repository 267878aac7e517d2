import { isFields, isList, type Fields, type Json, type Place, textOf } from './json.ts';
import type { Schema } from './schema.ts';

/** What must never be shown is given this value, so that it can be looked for. */
export const secret = 'hunter2';

/** Other values that the API server accepts, for fields in which not every text will do. */
const texts: Readonly<Record<string, readonly string[]>> = {
  image: ['evil.example/other:1'],
  schedule: ['1 1 * * *'],
  timeZone: ['Europe/Berlin'],
  mountPath: ['/other'],
  topologyKey: ['topology.kubernetes.io/zone'],
  fieldPath: ['metadata.uid', 'metadata.namespace'],
  medium: [''],
  port: ['postgresql', 'patroni', 'other'],
  drop: ['NET_RAW'],
  policyTypes: ['Egress'],
  accessModes: ['ReadWriteMany'],
};

/** Whether what is written here must never be shown. */
export function isSecret(place: Place): boolean {
  if (place.at(-1) === 'value' && place.includes('env')) return true;
  if (place.at(-1) === 'path' && place.includes('httpGet')) return true;
  return ['data', 'annotations', 'command', 'args'].some((step) => place.includes(step));
}

/** A value of the same type that is not this one. */
export function otherValue(value: Json, schema: Schema, place: Place): Json {
  if (typeof value === 'boolean') return !value;
  if (schema.isQuantity) return place.includes('limits') ? '7Gi' : place.at(-1) === 'cpu' ? '7m' : '7Mi';
  // More members than asked for are held, untold, until there is a primary to ask who may go; here there never is one.
  if (typeof value === 'number') return place.at(-1) === 'replicas' ? value - 1 : value + 1;
  const name = String(place.findLast((step) => typeof step === 'string'));
  const known = [...schema.choices, ...(texts[name] ?? [])].find((text) => text !== value);
  if (known !== undefined) return known;
  if (isSecret(place)) return secret;
  return place.includes('labels') || place.includes('matchLabels') ? 'other' : `${textOf(value)}-x`;
}

/** A key that no other item of the list has. */
export function otherKey(value: Json | undefined, schema: Schema, place: Place): Json {
  if (typeof value === 'number') return value + 1000;
  if (place.at(-1) === 'mountPath') return `${textOf(value)}/other`;
  if (place.includes('env')) return `${textOf(value)}_OTHER`;
  return otherValue(value ?? '', schema, place);
}

/** The same quantity, written otherwise: 250m as 0.25, 512Mi as 536870912. */
export function otherSpelling(quantity: string): string | undefined {
  const [, number = '', suffix = ''] = /^([0-9]+)(m|Ki|Mi|Gi)?$/.exec(quantity) ?? [];
  const factors: Readonly<Record<string, number>> = { '': 1, m: 0.001, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
  const factor = factors[suffix];
  if (number === '' || factor === undefined) return undefined;
  return suffix === '' ? `${number}000m` : String(Number((Number(number) * factor).toFixed(3)));
}

/** A field that does not go with the one of a name, with its value; `instead`: what the one has then, undefined where it goes. */
interface OtherField {
  readonly name: string;
  readonly value: Json;
  readonly instead?: Json;
}

/** The field that somebody writes who swaps one; undefined where there is none to think of. */
export function otherField(name: string, place: Place): OtherField | undefined {
  const isOf = (list: string): boolean => place.at(-2) === list;
  switch (name) {
    case 'maxUnavailable':
      return { name: 'minAvailable', value: 1 };
    case 'value':
      return isOf('env')
        ? { name: 'valueFrom', value: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }
        : undefined;
    case 'valueFrom':
      return { name: 'value', value: secret };
    case 'configMap':
    case 'secret':
    case 'persistentVolumeClaim':
    case 'projected':
      return isOf('volumes') ? { name: 'emptyDir', value: { medium: 'Memory' } } : undefined;
    case 'emptyDir':
      return isOf('volumes') ? { name: 'hostPath', value: { path: '/', type: '' } } : undefined;
    case 'httpGet':
      return { name: 'exec', value: { command: [secret] } };
    case 'exec':
      return { name: 'tcpSocket', value: { port: 9999 } };
    case 'type':
      return place.at(-1) === 'updateStrategy'
        ? { name: 'rollingUpdate', value: { partition: 2 }, instead: 'RollingUpdate' }
        : undefined;
    default:
      return undefined;
  }
}

/** One more item for a list; undefined where there is none to think of. */
export function addedItem(list: readonly Json[], place: Place): Json | undefined {
  const [first] = list;
  switch (String(place.at(-1))) {
    case 'ownerReferences':
      return undefined;
    case 'containers':
      return { name: 'added', image: 'evil.example/sidecar:1' };
    case 'env':
      return { name: 'ADDED', value: secret };
    case 'volumes':
      return { name: 'added', emptyDir: {} };
    case 'volumeMounts':
      return { mountPath: '/added', name: (first as Fields)['name'] ?? '' };
    case 'ports':
      return place.includes('containers')
        ? { containerPort: 9999, protocol: 'TCP', name: 'added' }
        : place.includes('ingress')
          ? { port: 9999, protocol: 'TCP' }
          : { port: 9999, protocol: 'TCP', name: 'added', targetPort: 9999 };
    case 'topologySpreadConstraints':
      return { ...(first as Fields), topologyKey: 'topology.kubernetes.io/zone' };
    case 'policyTypes':
      return 'Egress';
    default:
      return first === undefined ? undefined : likeIt(first, place);
  }
}

/** A copy that differs in its last field. */
function likeIt(item: Json, place: Place): Json {
  if (isList(item)) return [...item, ...item];
  if (!isFields(item)) return ['command', 'args'].includes(String(place.at(-1))) ? secret : `${textOf(item)}-x`;
  const [name, value] = Object.entries(item).at(-1) ?? ['', ''];
  return { ...item, [name]: isFields(value) ? {} : likeIt(value, place) };
}
