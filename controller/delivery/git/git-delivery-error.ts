/** Why a delivery to Git failed. */
export type GitDeliveryReason =
  /** The git program is not installed. */
  | 'GitMissing'
  /** A git command took too long. */
  | 'GitTimedOut'
  /** A git command failed in a way that has no name of its own. */
  | 'GitFailed'
  /** Our copy of the repository is damaged and could not be made anew. */
  | 'CloneBroken'
  /** The disk that our copy of the repository is on has no room left. */
  | 'DiskFull'
  /** The repository does not answer, or does not let us read. */
  | 'RemoteUnreachable'
  /** The server does not take the password, the token or the key; or it wants one, and there is none. */
  | 'CredentialsRefused'
  /** The server's SSH key is not one of known_hosts. */
  | 'HostKeyRefused'
  /** The server's certificate is of no authority that is trusted. */
  | 'CertificateRefused'
  /** What Plumbline was given to be let in by does not fit the URL, or is malformed. */
  | 'AccessRefused'
  /** A Secret that Plumbline is let in by does not exist, or lacks a key. */
  | 'SecretNotFound'
  /** The private key is none of the GitHub App's. */
  | 'GitHubKeyRefused'
  /** The controller's clock is too far from GitHub's. */
  | 'GitHubClockDiffers'
  /** The GitHub App has no such installation. */
  | 'GitHubInstallationNotFound'
  /** The installation of the GitHub App is suspended, or does not let us write the repository. */
  | 'GitHubInstallationRefused'
  /** GitHub's API can't be reached. */
  | 'GitHubUnreachable'
  /** GitHub's API does not answer. */
  | 'GitHubTimedOut'
  /** GitHub's API answers with an error of its own, or with what is no token. */
  | 'GitHubFailed'
  /** The commit could not be signed. */
  | 'SigningFailed'
  /** The repository does not take the commit, although nobody else pushed: no permission, a protected branch, a hook. */
  | 'PushRefused'
  /** Others pushed each time before us. */
  | 'PushOvertaken'
  /** The URL has credentials in it or is of a kind that is not supported. */
  | 'UrlRefused'
  | 'BranchRefused'
  /** The branch that changes are to be merged into after their review does not exist. */
  | 'BranchMissing'
  /** Two destinations would write one branch that is for one of them to be merged into another target. */
  | 'BranchTaken'
  /** A path would leave the database's folder, or is not spelt as Plumbline spells paths. */
  | 'PathRefused'
  /** Something else in the repository (a link, a file) is where a folder or file has to be. */
  | 'PathBlocked'
  /** A file holds a Secret with its values, or a password. */
  | 'SecretRefused'
  /** A file can't be read as YAML, so nobody can say whether it holds a Secret. */
  | 'ManifestUnreadable'
  /** The lease has to be renewed first, or is lost. */
  | 'NotLeading'
  /** The writer was stopped before it came to this. */
  | 'WriterStopped';

/** The message says what failed and what to do. It holds neither credentials nor the content of files. */
export class GitDeliveryError extends Error {
  override readonly name = 'GitDeliveryError';
  readonly reason: GitDeliveryReason;

  constructor(reason: GitDeliveryReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
