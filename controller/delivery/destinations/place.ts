import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';

/** A branch of a repository. */
export interface Place {
  readonly url: string;
  readonly branch: string;
}

export function placeOf({ spec }: StoredGitDestination): Place {
  return { url: spec.url, branch: spec.branch ?? 'main' };
}

/**
 * Equal for the spellings of one place: the forges take a URL with and without `.git`, `git@host:path` means
 * `ssh://git@host/path` to them, and two writers that did not know of each other would race for each commit.
 */
export function placeKey({ url, branch }: Place): string {
  const scpLike = /^([^/:]+):(?!\/\/)(.*)$/.exec(url);
  const standard = scpLike === null ? url : `ssh://${scpLike[1]}/${scpLike[2]}`;
  return `${normalised(standard)} ${branch}`;
}

function normalised(text: string): string {
  if (!URL.canParse(text)) return text;
  const { protocol, username, host, pathname } = new URL(text);
  const path = pathname
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\.git$/, '');
  return `${protocol}//${username === '' ? '' : `${username}@`}${host.replace(defaultPort[protocol] ?? '', '').toLowerCase()}${path}`;
}

/** URL leaves out those of http and https itself. */
const defaultPort: Readonly<Record<string, RegExp>> = { 'ssh:': /:22$/ };
