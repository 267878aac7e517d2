import { toCel, violation } from './cel.ts';
import { isDnsLabel, isNamePrefix } from './kubernetes-name.ts';
import { finalizerProblems, ownerProblems } from './metadata-lists.ts';
import { annotationProblems, labelProblems } from './metadata-maps.ts';
import { metadataSchema } from './metadata-schema.ts';
import { isWithin, join, show, type Problem } from './problem.ts';
import type { ResourceKind } from './resource-kind.ts';
import { isFields, type Fields } from './schema-node.ts';
import { shapeProblems } from './shape.ts';
import { unknownFields } from './unknown-fields.ts';

/**
 * What Kubernetes itself asks of the metadata of any object, and our rule on the name.
 * Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go
 *
 * @param metadata as {@link storedMetadata} gives it
 */
export function metadataProblems(metadata: unknown, kind: ResourceKind): readonly Problem[] {
  if (!isFields(metadata)) {
    const rule = metadata === undefined ? 'is required' : 'must be an object';
    return [{ field: 'metadata', value: show(metadata), rule, remedy: 'give it a name' }];
  }
  const malformed = shapeProblems(metadataSchema, metadata, 'metadata');
  const wellFormed = Object.fromEntries(
    Object.entries(metadata).filter(
      ([name]) => !malformed.some(({ field }) => isWithin(field, join('metadata', name))),
    ),
  );
  return [
    ...unknownFields(metadataSchema, metadata, 'metadata'),
    ...malformed,
    ...('name' in wellFormed || !('name' in metadata) ? nameProblems(wellFormed, kind) : []),
    ...problemsOf('generateName', wellFormed, isNamePrefix, 'must be the beginning of a name'),
    ...problemsOf('namespace', wellFormed, isDnsLabel, 'must be a DNS label of at most 63 characters'),
    ...labelProblems(wellFormed['labels']),
    ...annotationProblems(wellFormed['annotations']),
    ...finalizerProblems(wellFormed['finalizers']),
    ...ownerProblems(wellFormed['ownerReferences']),
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

function nameProblems(metadata: Fields, { objectRules, example }: ResourceKind): readonly Problem[] {
  const remedy = `such as ${example}`;
  const generated = textOf(metadata['generateName']);
  const given = textOf(metadata['name']);
  if (given === '' && generated === '')
    return [{ field: 'metadata.name', value: show(metadata['name']), rule: 'is required', remedy }];
  // The API server puts five characters behind the first 58 of a generateName before it judges the name.
  const name = given === '' ? `${generated.slice(0, 58)}xxxxx` : given;
  const field = given === '' ? 'metadata.generateName' : 'metadata.name';
  return objectRules.flatMap((rule) => {
    const message = violation(rule, toCel({ metadata: { name } }), undefined);
    return message === undefined ? [] : [{ field, value: show(given || generated), rule: message, remedy }];
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

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[-+]\d\d:\d\d)$/;

function timeProblems(metadata: Fields): readonly Problem[] {
  const holds = (text: string): boolean => rfc3339.test(text) && !Number.isNaN(Date.parse(text.replace(',', '.')));
  return ['creationTimestamp', 'deletionTimestamp'].flatMap((name) =>
    problemsOf(name, metadata, holds, 'must be a time such as 2027-01-01T00:00:00Z; leave it out, Kubernetes sets it'),
  );
}
