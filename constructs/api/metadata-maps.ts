import { isLabelValue, isQualifiedName } from './kubernetes-name.ts';
import { join, show, type Problem } from './problem.ts';
import { isFields } from './schema-node.ts';

const keyRule = 'is not a key: letters, digits, -, _ and ., with a DNS prefix such as example.com/ or none';

/** What is wrong with labels. */
export function labelProblems(labels: unknown): readonly Problem[] {
  return entriesOf(labels).flatMap(([key, value]) => {
    const field = join('metadata.labels', key);
    const badKey = { field, value: show(value), rule: keyRule, remedy: '' };
    const badValue = { ...badKey, rule: 'is not a label value: at most 63 letters, digits, -, _ and .' };
    return [...(isQualifiedName(key) ? [] : [badKey]), ...(isLabelValue(value) ? [] : [badValue])];
  });
}

const mostAnnotationBytes = 256 * 1024;

/** What is wrong with annotations. */
export function annotationProblems(annotations: unknown): readonly Problem[] {
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
