import { join, show, type Problem } from './problem.ts';
import { childOf, isFields, type Node } from './schema-node.ts';
import { suggestion } from './suggestion.ts';

/** Every field that the schema does not know, with what was probably meant. Strict field validation of the API server refuses these. */
export function unknownFields(node: Node | undefined, value: unknown, path: string): readonly Problem[] {
  if (node?.['x-kubernetes-preserve-unknown-fields']) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unknownFields(node?.items, item, join(path, index)));
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const child = node && childOf(node, name);
    const field = join(path, name);
    return child
      ? unknownFields(child, item, field)
      : [unknownField(field, name, item, Object.keys(node?.properties ?? {}))];
  });
}

function unknownField(field: string, name: string, value: unknown, known: readonly string[]): Problem {
  const near = suggestion(name, known);
  const remedy = near ? `did you mean ${near}?` : known.length > 0 ? `known here: ${known.join(', ')}` : '';
  return { field, value: show(value), rule: 'is not a known field', remedy };
}
