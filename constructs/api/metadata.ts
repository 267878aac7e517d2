import { maxNameLength } from './resource.ts';
import { join, show, type Problem } from './problem.ts';
import { isFields } from './schema-check.ts';
import { suggestion } from './suggestion.ts';

/** Fields of ObjectMeta. Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go */
const known = [
  'name', 'generateName', 'namespace', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'uid', 'resourceVersion',
  'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields', 'selfLink',
]; // prettier-ignore

const qualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;
const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const annotationBytes = 256 * 1024;

/** What Kubernetes itself asks of the metadata of any object, and our rule on the name. */
export function checkMetadata(metadata: unknown): readonly Problem[] {
  if (!isFields(metadata)) {
    return [
      {
        field: 'metadata',
        value: show(metadata),
        rule: metadata === undefined ? 'is required' : 'must be an object',
        remedy: 'give it a name',
      },
    ];
  }
  return [
    ...unknownFields(metadata),
    ...checkName(metadata['name'], metadata['generateName']),
    ...checkText('namespace', metadata['namespace'], dnsLabel, 'must be a DNS label of at most 63 characters'),
    ...checkMap('labels', metadata['labels'], labelValue),
    ...checkMap('annotations', metadata['annotations'], undefined),
  ];
}

function unknownFields(metadata: Readonly<Record<string, unknown>>): Problem[] {
  return Object.keys(metadata)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = suggestion(name, known);
      return {
        field: join('metadata', name),
        value: show(metadata[name]),
        rule: 'is not a known field',
        remedy: near ? `did you mean ${near}?` : '',
      };
    });
}

function checkName(name: unknown, generateName: unknown): Problem[] {
  const rule = `must begin with a letter, have only a-z, 0-9 and -, no dots, and be at most ${maxNameLength} long`;
  const wrong = (rule: string): Problem[] => [
    { field: 'metadata.name', value: show(name), rule, remedy: 'such as orders' },
  ];
  if (name === undefined || name === null || name === '') return generateName ? [] : wrong('is required');
  if (typeof name !== 'string') return wrong('must be text: write it in quotes');
  return /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= maxNameLength ? [] : wrong(rule);
}

function checkText(field: string, value: unknown, pattern: RegExp, rule: string): Problem[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value === 'string' && pattern.test(value)) return [];
  return [{ field: `metadata.${field}`, value: show(value), rule, remedy: '' }];
}

function checkMap(field: 'labels' | 'annotations', map: unknown, value: RegExp | undefined): Problem[] {
  if (map === undefined || map === null) return [];
  const at = `metadata.${field}`;
  if (!isFields(map)) return [{ field: at, value: show(map), rule: 'must be a map of text', remedy: '' }];
  const problems: Problem[] = [];
  for (const [key, item] of Object.entries(map)) {
    const fieldOfKey = join(at, key);
    if (!qualifiedName.test(field === 'annotations' ? key.toLowerCase() : key) || key.split('/')[0] === '') {
      problems.push({
        field: fieldOfKey,
        value: undefined,
        rule: 'is not a key: letters, digits, -, _ and ., with a DNS prefix such as example.com/',
        remedy: '',
      });
    }
    if (item === null) continue;
    if (typeof item !== 'string') {
      const remedy = typeof item === 'object' ? '' : `write it in quotes: "${JSON.stringify(item)}"`;
      problems.push({ field: fieldOfKey, value: show(item), rule: 'must be text', remedy });
    } else if (value && !value.test(item)) {
      problems.push({
        field: fieldOfKey,
        value: show(item),
        rule: 'is not a label value: at most 63 letters, digits, -, _ and .',
        remedy: '',
      });
    }
  }
  const bytes = Object.entries(map).reduce(
    (sum, [key, item]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(item)),
    0,
  );
  if (field === 'annotations' && bytes > annotationBytes) {
    problems.push({ field: at, value: undefined, rule: 'must be at most 256 KiB together', remedy: '' });
  }
  return problems;
}
