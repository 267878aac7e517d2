/** One line of `git ls-tree --long`. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder' | 'submodule';
  readonly id: string;
  /** Of a file or link, in bytes; undefined for others. */
  readonly size: number | undefined;
}

/** @param listing output of `git ls-tree --long -z`. */
export function parseTree(listing: string): TreeEntry[] {
  return listing.split('\0').flatMap((line) => {
    const [, mode, id, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t([^]*)$/.exec(line) ?? [];
    if (mode === undefined || id === undefined || path === undefined) return [];
    return [{ path, id, kind: kindOf(mode), size: size === '-' ? undefined : Number(size) }];
  });
}

function kindOf(mode: string): TreeEntry['kind'] {
  switch (mode) {
    case '040000':
      return 'folder';
    case '120000':
      return 'link';
    case '160000':
      return 'submodule';
    default:
      return 'file';
  }
}
