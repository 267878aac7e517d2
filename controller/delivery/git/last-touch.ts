/** The commit that changed a file last. */
export interface LastTouch {
  readonly commit: string;
  readonly name: string;
  readonly email: string;
  /** When it was written, RFC 3339 in UTC, whole seconds. */
  readonly time: string;
}

/** `git log --name-only -z` prints commits in this way; parsed by `parseTouches`. The first sign begins a commit. */
export const touchFormat = '--format=%x01%H%x00%an%x00%ae%x00%at%x00';

/**
 * The newest commit of each path.
 * @param log of `git log`, newest commit first
 * @param boundary commits whose parents are not at hand: they seem to add every file
 */
export function parseTouches(log: string, boundary: ReadonlySet<string>): ReadonlyMap<string, LastTouch> {
  const touches = new Map<string, LastTouch>();
  for (const entry of log.split('\u0001')) {
    const [commit = '', name = '', email = '', at = '', ...paths] = entry.split('\0');
    if (!/^[0-9a-f]{40,64}$/.test(commit) || !/^\d{1,11}$/.test(at) || boundary.has(commit)) continue;
    const time = new Date(Number(at) * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
    for (const path of paths.map((one) => one.replace(/^\n+/, ''))) {
      if (path !== '' && !touches.has(path)) touches.set(path, { commit, name, email, time });
    }
  }
  return touches;
}

const longestAuthor = 120;

/** As people write it; whoever commits chooses these texts. */
export function authorOf({ name, email }: LastTouch): string {
  return `${name} <${email}>`.replaceAll(/\p{Cc}+/gu, ' ').slice(0, longestAuthor);
}
