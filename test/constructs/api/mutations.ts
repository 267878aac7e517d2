import fc from 'fast-check';
import { stringify } from 'yaml';
import { readDocuments } from '../../../constructs/api/document.ts';
import { timeZones } from '../../../constructs/api/time-zones.ts';
import { corpus } from './corpus.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Change = (document: Json) => Json;

/** Documents that are nearly valid: one of the corpus with one to three changes, as YAML text. */
export function mutatedDocuments(): fc.Arbitrary<string> {
  const valid = corpus('valid').flatMap(({ text }) => readDocuments(text).documents.map(({ value }) => value as Json));
  const changes = fc.array(fc.oneof({ weight: 3, arbitrary: anywhere }, { weight: 4, arbitrary: inItsField }), {
    minLength: 1,
    maxLength: 3,
  });
  const written = fc.constantFrom<(document: Json) => string>(
    (document) => JSON.stringify(document),
    (document) => stringify(document, { version: '1.1' }),
    (document) => stringify(document, { version: '1.1', collectionStyle: 'flow' }),
  );
  return fc
    .tuple(fc.constantFrom(...valid), changes, written)
    .map(([document, list, write]) => write(list.reduce((at, change) => change(at), structuredClone(document))));
}

const strange: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  null, true, false, 0, 1, -1, 3, 17, 1.5, 1e21, 2 ** 53, '', ' ', '0', '1', '-1', '10Gi', 'a', 'A', 'on', 'null', '~', 'ü', '😀', 'a\rb',
  '\u0000', '\ufeff', 'x'.repeat(64), 'x'.repeat(300), 'x'.repeat(1100), [], [null], ['a'], [[]], {}, { a: null }, { a: 'b' }, { a: { b: 1 } },
  '*', '&a', '!x', '- a', 'a: b', '#', '%', '@', '`', '{', '1:30', '0x1F', '0o17', '1_000', '.5', '1e3', '2026-11-29', 'Europe/Berlin', 'x/y',
); // prettier-ignore

const keys = fc.constantFrom(
  'name', 'namespace', 'labels', 'annotations', 'size', 'replicas', 'version', 'engine', 'sise', 'Size', 'spec', 'status', 'metadata', 'kind',
  'storage', 'from', 'schedule', 'volume', 'a', 'a.b', 'a/b', 'a/b/c', '', ' ', 'ü', '__proto__', 'constructor', 'toString', 'work_mem', 'fsync', 'x'.repeat(64),
  'finalizers', 'generateName', 'ownerReferences', 'operator', 'value', 'cpu', 'memory', 'null', '1', 'true', 'y', '1.10',
); // prettier-ignore

const anywhere: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.nat(), strange).map(
    ([n, value]): Change =>
      (document) =>
        atNth(document, n, () => value),
  ),
  fc.nat().map(
    (n): Change =>
      (document) =>
        atNth(document, n, () => undefined),
  ),
  fc.tuple(fc.nat(), keys).map(
    ([n, key]): Change =>
      (document) =>
        atNth(document, n, (value) => value, key),
  ),
  fc.tuple(fc.nat(), keys, strange).map(
    ([n, key, value]): Change =>
      (document) =>
        atNth(document, n, (at) => (isMap(at) ? Object.fromEntries([...Object.entries(at), [key, value]]) : value)),
  ),
);

const pick = (...values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values);
const joined = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(''));
const maybe = (part: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.oneof(pick(''), part);

const number = fc.oneof(
  pick('0', '00', '1', '07', '10', '1024', '9007199254740993', '999999999999999999', '9223372036854775807'),
  fc.nat(2000).map(String),
);
const fraction = joined(
  pick('.'),
  pick('', '0', '5', '25', '50', '125', '000', '1', '333', '0625', '123456789', '0000000001'),
);
const suffix = pick(
  '',
  '',
  'n',
  'u',
  'm',
  'k',
  'K',
  'M',
  'G',
  'g',
  'T',
  'P',
  'E',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'Pi',
  'Ei',
  'e3',
  'E3',
  'e-3',
  'e+10',
  'e',
  'e99',
  'GB',
  ' Gi',
  'Gi ',
  'i',
);
const quantity: fc.Arbitrary<Json> = fc.oneof(
  joined(pick('', '', '+', '-'), number, maybe(fraction), suffix),
  joined(fraction, suffix),
  fc.integer({ min: -2, max: 3 }),
  strange,
);

const cronNumber = fc.oneof(
  fc.integer({ min: 0, max: 61 }).map(String),
  pick('*', '?', '1', '2', '4', '30', '31', '02', 'feb', 'APR', 'jun', 'nov', 'mon', 'FRI', 'sun', 'L', '7', ''),
);
const cronItem = joined(
  cronNumber,
  maybe(joined(pick('-'), cronNumber)),
  maybe(joined(pick('/'), pick('1', '2', '7', '9', '11', '12', '0', '01', '100', ''))),
);
const cronField = fc.array(cronItem, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
const impossible = fc
  .tuple(
    pick('30', '31', '31,30', '30-31', '*'),
    fc.array(cronItem, { minLength: 1, maxLength: 2 }).map((items) => items.join(',')),
    pick('*', '?', '*/1', '*/2', '0-6', '1,*'),
  )
  .map(([day, month, weekday]) => `0 0 ${day} ${month} ${weekday}`);
const schedule = fc.oneof(
  fc.array(fc.oneof(pick('*', '1', '?'), cronField), { minLength: 5, maxLength: 5 }).map((fields) => fields.join(' ')),
  fc
    .tuple(fc.array(cronField, { minLength: 4, maxLength: 6 }), pick(' ', '  ', '\t', '\u00a0'))
    .map(([fields, blank]) => fields.join(blank)),
  impossible,
  joined(
    pick('@', '@every ', '@every  ', 'TZ=UTC ', ' '),
    pick('daily', 'Daily', '1h', '90m', '0s', '1h30m', '1.5h', '1d', '0 3 * * *', '00000001h', '100000h', ''),
  ),
);

const cidr = joined(
  pick(
    '10.0.0.0',
    '10.1.2.3',
    '010.0.0.0',
    '256.0.0.0',
    '0.0.0.0',
    'fd00::',
    'FD00::1',
    '::',
    '::1',
    '::ffff:10.0.0.0',
    '1:2:3:4:5:6:7:8',
    'fe80::1%eth0',
    '1.2.3',
    'x',
  ),
  pick('/0', '/8', '/08', '/32', '/33', '/64', '/128', '/129', '/+8', '/', ''),
);
const name = fc.oneof(
  joined(
    pick('a', '1', 'A', '-', ''),
    pick(
      '',
      'b',
      '-',
      '.',
      '_',
      'ü',
      '1',
      'b'.repeat(43),
      'b'.repeat(44),
      'b'.repeat(45),
      'b'.repeat(62),
      'b'.repeat(63),
      'b'.repeat(252),
    ),
    pick('', 'c', '-', '.'),
  ),
);
const key = fc.oneof(
  name,
  joined(name, pick('/'), name),
  keys,
  pick('work_mem', 'pg_stat.x', 'archive_command', 'a'.repeat(63), 'a'.repeat(64), '_x', '1x'),
);
const image = joined(
  pick('', 'localhost/', 'reg:5000/', 'Reg.Example/', 'http://', 'a//'),
  pick('pg', 'PG', 'a/b', 'a__b', 'a___b', 'a.-b', 'a-'),
  pick('', ':17', ':', ':a b', ':' + 'x'.repeat(129), '@sha256:' + 'a'.repeat(64), '@sha256:a'),
);
const requirement: fc.Arbitrary<Json> = fc.record(
  {
    key,
    operator: pick('In', 'NotIn', 'Exists', 'in'),
    values: fc.array(name, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const selector: fc.Arbitrary<Json> = fc.record(
  { matchLabels: fc.dictionary(key, name, { maxKeys: 2 }), matchExpressions: fc.array(requirement, { maxLength: 2 }) },
  { requiredKeys: [] },
);
const peer: fc.Arbitrary<Json> = fc.record(
  {
    podSelector: selector,
    namespaceSelector: selector,
    ipBlock: fc.record({ cidr, except: fc.array(cidr, { maxLength: 2 }) }, { requiredKeys: ['cidr'] }),
  },
  { requiredKeys: [] },
);
const toleration: fc.Arbitrary<Json> = fc.record(
  {
    key,
    operator: pick('Equal', 'Exists'),
    value: name,
    effect: pick('NoSchedule', 'NoExecute', ''),
    tolerationSeconds: fc.constantFrom(0, -1, 5),
  },
  { requiredKeys: [] },
);

/** A likely value, right or slightly wrong, in the field where it belongs. */
const inItsField: fc.Arbitrary<Change> = fc.oneof(
  put(['spec', 'storage', 'size'], quantity),
  put(['spec', 'resources'], fc.record({ requests: fc.record({ cpu: quantity, memory: quantity }, { requiredKeys: [] }), limits: fc.record({ cpu: quantity, memory: quantity }, { requiredKeys: [] }) }, { requiredKeys: [] })),
  put(['spec', 'backup'], fc.record({ schedule, timeZone: fc.oneof(fc.constantFrom(...timeZones), pick('', 'Local', 'utc', 'Etc/utc')), volume: fc.record({ size: quantity, claimName: name, storageClass: name }, { requiredKeys: [] }) }, { requiredKeys: ['schedule', 'volume'] })),
  put(['spec', 'backup', 'schedule'], schedule),
  put(['spec', 'version'], fc.oneof(joined(pick('1', '11', '12', '17', '19', '20', 'v17', ' 17'), maybe(joined(pick('.', '-'), pick('0', '10', '99999', ''))), maybe(pick('.1', '.1.1'))), strange)),
  put(['spec', 'image'], image),
  put(['spec', 'access'], fc.record({ from: fc.array(peer, { maxLength: 3 }) })),
  put(['spec', 'scheduling'], fc.record({ spreadBy: key, nodeSelector: fc.dictionary(key, name, { maxKeys: 2 }), tolerations: fc.array(toleration, { maxLength: 2 }), priorityClass: name }, { requiredKeys: [] })),
  put(['spec', 'parameters'], fc.dictionary(key, fc.oneof(name, strange), { maxKeys: 3 })),
  put(['spec', 'credentials'], fc.record({ source: pick('Generated', 'Existing'), secretName: name }, { requiredKeys: [] })),
  put(['spec', 'durability'], pick('Async', 'Sync', 'SyncStrict')),
  put(['spec', 'database'], fc.oneof(name, pick('postgres', 'template0'))),
  put(['spec', 'username'], fc.oneof(name, pick('postgres', 'pg_x', 'none'))),
  put(['spec', 'replicas'], fc.oneof(fc.integer({ min: -1, max: 12 }), strange)),
  put(['metadata', 'name'], fc.oneof(name, strange)),
  put(['metadata', 'labels'], fc.dictionary(key, fc.oneof(name, strange), { maxKeys: 2 })),
  put(['metadata', 'annotations'], fc.dictionary(key, fc.oneof(name, strange), { maxKeys: 2 })),
  put(['metadata'], fc.record({ generateName: name, finalizers: fc.array(key, { maxLength: 2 }) }, { requiredKeys: ['generateName'] })),
  put(['metadata', 'ownerReferences'], fc.array(fc.record({ apiVersion: pick('v1', 'a/v1', 'a/b/c', ''), kind: pick('Pod', 'Event', ''), name: pick('x', ''), uid: pick('1', ''), controller: fc.boolean() }, { requiredKeys: [] }), { maxLength: 3 })),
  put(['status'], strange),
); // prettier-ignore

function put(path: readonly string[], values: fc.Arbitrary<Json>): fc.Arbitrary<Change> {
  return values.map(
    (value): Change =>
      (document) =>
        set(document, path, value),
  );
}

function set(document: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  const map = isMap(document) ? document : {};
  return { ...map, [key]: set(map[key] ?? {}, rest, value) };
}

/** Changes the n-th value of a document, counted through all depths; undefined takes it away. */
function atNth(document: Json, n: number, change: (value: Json) => Json | undefined, key?: string): Json {
  const size = count(document);
  let left = n % size;
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) {
      return value.flatMap((item) => {
        const result = visit(item);
        return result === undefined ? [] : [result];
      });
    }
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, item]) => {
        const isHere = left === 0;
        const result = visit(item);
        return result === undefined ? [] : [[isHere && key !== undefined ? key : name, result]];
      }),
    );
  };
  const visit = (value: Json): Json | undefined => (left-- === 0 ? change(value) : walk(value));
  return walk(document);
}

function count(value: Json): number {
  const children = Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
  return children.reduce<number>((sum, child) => sum + 1 + count(child), 0) || 1;
}

function isMap(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
