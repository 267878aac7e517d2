import { childOf, isFields, type Node } from './schema-node.ts';

/**
 * A value as the API server stores it: a null stands for an absent field (the server drops it, on optional and required fields alike), and
 * defaults of the schema are filled in. A null in a list stays, and is then of the wrong type.
 * Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting, prunenulls.go and algorithm.go
 */
export function storedForm(node: Node, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => storedForm(node.items ?? {}, item));
  if (!isFields(value)) return value;
  const stored = Object.entries(value).flatMap(([name, item]) => {
    const child = childOf(node, name);
    if (!child) return [[name, item] as const];
    return item === null ? [] : [[name, storedForm(child, item)] as const];
  });
  const absent = Object.entries(node.properties ?? {}).filter(
    ([name, child]) => child.default !== undefined && (value[name] ?? undefined) === undefined,
  );
  return Object.fromEntries([...stored, ...absent.map(([name, child]) => [name, child.default] as const)]);
}
