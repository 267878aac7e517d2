import { objectRules } from './crd.ts';
import { violation } from './cel.ts';
import { metadataSchema } from './metadata-schema.ts';
import { join, show, type Problem } from './problem.ts';
import { isFields, type Fields } from './schema-node.ts';
import { shapeProblems } from './shape.ts';
import { unknownFields } from './unknown-fields.ts';

/**
 * What Kubernetes itself asks of the metadata of any object, and our rule on the name.
 * Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go
 *
 * @param metadata as {@link storedMetadata} gives it
 */
export function metadataProblems(metadata: unknown): readonly Problem[] {
  if (!isFields(metadata)) {
    const rule = metadata === undefined ? 'is required' : 'must be an object';
    return [{ field: 'metadata', value: show(metadata), rule, remedy: 'give it a name' }];
  }
  const malformed = shapeProblems(metadataSchema, metadata, 'metadata');
  const wellFormed = Object.fromEntries(
    Object.entries(metadata).filter(
      ([name]) => !malformed.some(({ field }) => startsWith(field, join('metadata', name))),
    ),
  );
  return [
    ...unknownFields(metadataSchema, metadata, 'metadata'),
    ...malformed,
    ...('name' in wellFormed || !('name' in metadata) ? nameProblems(wellFormed) : []),
    ...problemsOf('namespace', wellFormed, isDnsLabel, 'must be a DNS label of at most 63 characters'),
    ...labelProblems(wellFormed['labels']),
    ...annotationProblems(wellFormed['annotations']),
    ...listProblems(wellFormed['finalizers'], 'finalizers', finalizerProblem),
    ...listProblems(wellFormed['ownerReferences'], 'ownerReferences', ownerProblem),
    ...timeProblems(wellFormed),
  ];
}

/** Metadata as the API server reads it: a null is the zero value, so an absent field, or empty text among labels and annotations. */
export function storedMetadata(metadata: unknown): unknown {
  if (metadata === null) return {};
  if (!isFields(metadata)) return metadata;
  const stored = Object.entries(metadata).flatMap(([name, value]) => {
    if (value === null && Object.hasOwn(metadataSchema.properties ?? {}, name)) return [];
    if ((name === 'labels' || name === 'annotations') && isFields(value))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, item]) => [key, item ?? '']))]];
    return [[name, value]];
  });
  return Object.fromEntries(stored) as Fields;
}

function startsWith(field: string, outer: string): boolean {
  return field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
}

function nameProblems(metadata: Fields): readonly Problem[] {
  const generated = textOf(metadata['generateName']);
  const given = textOf(metadata['name']);
  if (given === '' && generated === '')
    return [{ field: 'metadata.name', value: show(metadata['name']), rule: 'is required', remedy: 'such as orders' }];
  // The API server puts five characters behind the first 58 of a generateName before it judges the name.
  const name = given === '' ? `${generated.slice(0, 58)}xxxxx` : given;
  const field = given === '' ? 'metadata.generateName' : 'metadata.name';
  return objectRules.flatMap((rule) => {
    const message = violation(rule, { metadata: { name } }, undefined);
    return message === undefined
      ? []
      : [{ field, value: show(given || generated), rule: message, remedy: 'such as orders' }];
  });
}

function problemsOf(
  name: string,
  metadata: Fields,
  holds: (text: string) => boolean,
  rule: string,
): readonly Problem[] {
  const value = textOf(metadata[name]);
  if (value === '' || holds(value)) return [];
  return [{ field: `metadata.${name}`, value: show(value), rule, remedy: '' }];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabel.test(text);
}

function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').reverse();
  const isSubdomain =
    prefix === undefined || (prefix.length <= 253 && prefix.split('.').every((part) => dnsLabel.test(part)));
  return rest.length === 0 && isSubdomain && name.length <= 63 && qualified.test(name);
}

const keyRule = 'is not a key: letters, digits, -, _ and ., with a DNS prefix such as example.com/ or none';

function labelProblems(labels: unknown): readonly Problem[] {
  return entriesOf(labels).flatMap(([key, value]) => {
    const field = join('metadata.labels', key);
    const badKey = { field, value: show(value), rule: keyRule, remedy: '' };
    const badValue = { ...badKey, rule: 'is not a label value: at most 63 letters, digits, -, _ and .' };
    const isValue = value === '' || (value.length <= 63 && qualified.test(value));
    return [...(isQualifiedName(key) ? [] : [badKey]), ...(isValue ? [] : [badValue])];
  });
}

const mostAnnotationBytes = 256 * 1024;

function annotationProblems(annotations: unknown): readonly Problem[] {
  const entries = entriesOf(annotations);
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  const field = 'metadata.annotations';
  const tooLong = { field, value: undefined, rule: 'must be at most 256 KiB together', remedy: '' };
  return [
    ...entries
      .filter(([key]) => !isQualifiedName(key.toLowerCase()))
      .map(([key, value]) => ({ field: join(field, key), value: show(value), rule: keyRule, remedy: '' })),
    ...(bytes > mostAnnotationBytes ? [tooLong] : []),
  ];
}

function entriesOf(map: unknown): readonly (readonly [string, string])[] {
  return isFields(map) ? Object.entries(map).map(([key, value]) => [key, String(value)] as const) : [];
}

function listProblems(
  list: unknown,
  name: string,
  problemOf: (item: unknown) => string | undefined,
): readonly Problem[] {
  return (Array.isArray(list) ? list : []).flatMap((item, index) => {
    const rule = problemOf(item);
    return rule === undefined ? [] : [{ field: join(`metadata.${name}`, index), value: show(item), rule, remedy: '' }];
  });
}

function finalizerProblem(finalizer: unknown): string | undefined {
  return isQualifiedName(String(finalizer)) ? undefined : 'is not the name of a finalizer such as example.com/keep';
}

function ownerProblem(owner: unknown): string | undefined {
  const missing = ['apiVersion', 'kind', 'name', 'uid'].filter((name) => !isFields(owner) || !owner[name]);
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}`;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[-+]\d\d:\d\d)$/;

function timeProblems(metadata: Fields): readonly Problem[] {
  const holds = (text: string): boolean => rfc3339.test(text) && !Number.isNaN(Date.parse(text.replace(',', '.')));
  return ['creationTimestamp', 'deletionTimestamp'].flatMap((name) =>
    problemsOf(name, metadata, holds, 'must be a time such as 2027-01-01T00:00:00Z; leave it out, Kubernetes sets it'),
  );
}
