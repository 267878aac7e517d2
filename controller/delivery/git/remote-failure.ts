import type { GitDeliveryReason } from './git-delivery-error.ts';

/** What a failure is, and what to do about it. */
export interface Failure {
  readonly reason: GitDeliveryReason;
  readonly remedy?: string;
}

interface Rule extends Failure {
  /** Words of git, OpenSSH, libcurl and its TLS libraries, in the C locale. */
  readonly pattern: RegExp;
}

/** The first that fits counts. */
const rules: readonly Rule[] = [
  {
    reason: 'HostKeyRefused',
    pattern: /host key verification failed|remote host identification has changed/i,
    remedy:
      'The key of the SSH server is not one of known_hosts. If the server has a new key, add it there; if not, somebody is in between.',
  },
  {
    reason: 'CredentialsRefused',
    pattern:
      /authentication failed|could not read (username|password)|permission denied \(|returned error: 40[13]|too many authentication failures/i,
    remedy: 'Check whether the token, password or key is still valid, and whether it may read and push.',
  },
  {
    reason: 'CertificateRefused',
    pattern: /certificate/i,
    remedy: 'Name the authority that the certificate of the server comes from.',
  },
  {
    reason: 'RemoteUnreachable',
    pattern: /returned error: 30[12378]|unable to update url base from redirection/i,
    remedy:
      'The server sends git to another URL, and a password is sent to none but the one that was named: name that one, often with .git at its end.',
  },
];

const diskFull: Rule = {
  reason: 'DiskFull',
  pattern: /no space left on device|disk quota exceeded/i,
  remedy: 'Give the temporary folder of the controller more room.',
};

/**
 * Names what a failed git command says. Nothing but the name is decided by these words: a failure that no rule knows is
 * GitFailed.
 * @param words what the command wrote
 * @param isRemote whether it talks to the server
 */
export function failureOf(words: string, isRemote: boolean): Failure {
  // What the server's hooks say is theirs: it is shown, and names nothing.
  const own = words.replaceAll(/^remote:.*$/gm, '');
  const known = [diskFull, ...(isRemote ? rules : [])];
  return known.find(({ pattern }) => pattern.test(own)) ?? { reason: 'GitFailed' };
}
