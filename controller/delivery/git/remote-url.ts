import { GitDeliveryError } from './git-delivery-error.ts';

const supported = 'Use an absolute path, file://, http(s):// or ssh (ssh://user@host/path, user@host:path).';
const scpLike = /^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9.-]+:(?!\/\/)[^\s]+$/;

/**
 * Refuses a repository URL that has credentials in it (they would end up in argv, in error texts and in git's own files)
 * or that makes git run a program (`ext::`, an option). The URL is never part of the message.
 * @throws GitDeliveryError UrlRefused
 */
export function checkRemoteUrl(url: string): void {
  if (url.includes('://')) return checkStandardUrl(url);
  // user:password@host:path reads as a path on the host `user`.
  if (/^[^/]*:[^/]*@/.test(url)) throw withCredentials();
  if (url.startsWith('/') || (scpLike.test(url) && !url.includes('::'))) return;
  throw new GitDeliveryError('UrlRefused', `The URL of the Git repository is of no supported kind. ${supported}`);
}

function checkStandardUrl(url: string): void {
  const { protocol, username, password, search } = parse(url);
  switch (protocol) {
    case 'file:':
      return;
    case 'http:':
    case 'https:':
      // A token is often the user name alone, or a parameter.
      if (username !== '' || password !== '' || search !== '') throw withCredentials();
      return;
    case 'ssh:':
      if (password !== '') throw withCredentials();
      return;
    default:
      throw new GitDeliveryError('UrlRefused', `The URL of the Git repository begins with ${protocol}. ${supported}`);
  }
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    // Without the cause, which prints the URL.
    throw new GitDeliveryError('UrlRefused', `The URL of the Git repository can't be read as a URL. ${supported}`);
  }
}

function withCredentials(): GitDeliveryError {
  return new GitDeliveryError(
    'UrlRefused',
    'The URL of the Git repository has a user name, password or token in it, which every log and process list would show. Take it out of the URL.',
  );
}
