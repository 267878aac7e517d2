/** One line of `git ls-tree`. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder' | 'submodule';
  readonly id: string;
}

/** @param listing output of `git ls-tree -z`. */
export function parseTree(listing: string): TreeEntry[] {
  return listing.split('\0').flatMap((line) => {
    const [, mode, id, path] = /^(\d{6}) \w+ ([0-9a-f]+)\t([^]*)$/.exec(line) ?? [];
    return mode === undefined || id === undefined || path === undefined ? [] : [{ path, id, kind: kindOf(mode) }];
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
