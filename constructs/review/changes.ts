/** One value of a manifest that differs between two states of it. */
export interface Change {
  /** Such as `spec.template.spec.containers[postgres].image`. */
  readonly path: string;
  /** As JSON; undefined where there was nothing. */
  readonly was: string | undefined;
  /** As JSON; undefined where there is nothing any more. */
  readonly now: string | undefined;
}

/**
 * Where two manifests differ, value by value. Items of lists are known by their names where all have one. Text that is JSON, such as Patroni's
 * configuration, is compared inside. Pure.
 */
export function changesOf(was: unknown, now: unknown, path = ''): readonly Change[] {
  const [before, after] = [opened(was), opened(now)];
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const areLists = Array.isArray(before);
  if (!isTree(before) || !isTree(after) || areLists !== Array.isArray(after)) {
    return [{ path, was: shown(before), now: shown(after) }];
  }
  const [olds, news] = [childrenOf(before), childrenOf(after)];
  const keys = [...new Set([...olds.keys(), ...news.keys()])];
  return keys.flatMap((key) => changesOf(olds.get(key), news.get(key), joined(path, key, areLists)));
}

type Tree = readonly unknown[] | Readonly<Record<string, unknown>>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}

function opened(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[{[]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function childrenOf(tree: Tree): ReadonlyMap<string, unknown> {
  if (!Array.isArray(tree)) return new Map(Object.entries(tree));
  const items: readonly unknown[] = tree;
  const names = items.map((item) => (isTree(item) && 'name' in item ? String(item.name) : undefined));
  const areNames = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return new Map(items.map((item, index) => [(areNames ? names[index] : undefined) ?? String(index), item]));
}

function joined(path: string, key: string, isItem: boolean): string {
  if (isItem || !/^\w+$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function shown(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
