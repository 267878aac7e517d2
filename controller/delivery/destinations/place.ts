import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';

/** A branch of a repository. */
export interface Place {
  readonly url: string;
  readonly branch: string;
  /** The branch that changes wait on for their review; absent where they are pushed to the other one. */
  readonly reviewBranch?: string;
}

/** A branch for each destination of each cluster: one pull request with what is to be reviewed together, under a name that stays. */
const defaultReviewBranch = 'plumbline/<cluster>';

/** @param cluster stands for `<cluster>` */
export function placeOf({ metadata, spec }: StoredGitDestination, cluster: string): Place {
  const place = { url: spec.url, branch: spec.branch ?? 'main' };
  if (spec.pullRequest === undefined) return place;
  const { branch = `${defaultReviewBranch}/${metadata.name}` } = spec.pullRequest;
  return { ...place, reviewBranch: branch.replaceAll('<cluster>', cluster) };
}

/**
 * Equal for the spellings of one place: the forges take a URL with and without `.git`, `git@host:path` means
 * `ssh://git@host/path` to them, and two writers that did not know of each other would race for each commit.
 */
export function placeKey({ url, branch, reviewBranch }: Place): string {
  const scpLike = /^([^/:]+):(?!\/\/)(.*)$/.exec(url);
  const standard = scpLike === null ? url : `ssh://${scpLike[1]}/${scpLike[2]}`;
  return `${normalised(standard)} ${branch}${reviewBranch === undefined ? '' : ` ${reviewBranch}`}`;
}

/** The branch that is written, whatever it is merged into. */
export function writtenKey({ url, branch, reviewBranch = branch }: Place): string {
  return placeKey({ url, branch: reviewBranch });
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
