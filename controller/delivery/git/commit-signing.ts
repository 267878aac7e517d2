import { join } from 'node:path';
import type { AccessFiles, AccessRun } from './access-files.ts';
import { checkAccess, type GitAccess, type OpenPgpKey } from './access.ts';
import { atHand, broken, isFailure, onDisk } from './clone-failure.ts';
import { identityVariables, type NewCommit } from './fast-import.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { defaultTimeoutMs, type GitProcess } from './git-process.ts';
import { signOpenPgp, withSignature } from './open-pgp.ts';

export interface CommitSigningOptions {
  readonly url: string;
  /** Of the copy of the repository. */
  readonly directory: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** Signs what git fast-import has made, which signs nothing: the commit is made once more. */
export class CommitSigning {
  readonly #git: GitProcess;
  readonly #accessFiles: AccessFiles;
  readonly #options: CommitSigningOptions;

  constructor(git: GitProcess, accessFiles: AccessFiles, options: CommitSigningOptions) {
    this.#git = git;
    this.#accessFiles = accessFiles;
    this.#options = options;
  }

  /** Returns the hash of the signed commit. @throws GitDeliveryError SigningFailed, AccessRefused, CloneBroken, DiskFull */
  sign(unsigned: string, commit: Omit<NewCommit, 'ref'>, access: GitAccess): Promise<string> {
    checkAccess(this.#options.url, access);
    const { signingKey } = access;
    return signingKey?.kind === 'openpgp'
      ? onDisk(() => this.#signOpenPgp(unsigned, signingKey))
      : this.#signBySsh(unsigned, commit, access);
  }

  /** From the tree that it made, by git itself. */
  async #signBySsh(unsigned: string, commit: Omit<NewCommit, 'ref'>, access: GitAccess): Promise<string> {
    const { parents, message: input } = commit;
    const args = ['commit-tree', '-S', `${unsigned}^{tree}`, ...parents.flatMap((one) => ['-p', one])];
    try {
      const sign = ({ variables, secrets }: AccessRun): Promise<string> =>
        this.#git.run(args, {
          input,
          secrets,
          startsOthers: true,
          variables: { ...variables, ...identityVariables(commit) },
        });
      return hashIn(await onDisk(() => this.#accessFiles.during(access, sign)));
    } catch (error) {
      if (!isFailure(error)) throw error;
      const advice = 'Check the signing key, and that ssh-keygen is installed.';
      throw new GitDeliveryError('SigningFailed', `The commit can't be signed (${error.message}). ${advice}`);
    }
  }

  /** git would start gpg, and keep to itself what that says of a passphrase or a key that has expired. */
  async #signOpenPgp(unsigned: string, key: OpenPgpKey): Promise<string> {
    const { directory, environment = process.env, timeoutMs = defaultTimeoutMs } = this.#options;
    const commit = await atHand(() => this.#git.run(['cat-file', 'commit', unsigned]));
    const signature = await signOpenPgp(commit, key, { folder: join(directory, 'gpg'), environment, timeoutMs });
    const input = withSignature(commit, signature);
    return hashIn(await atHand(() => this.#git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { input })));
  }
}

/** What git prints of a commit that it has made. @throws GitDeliveryError CloneBroken */
export function hashIn(output: string): string {
  const hash = output.trim();
  if (!/^[0-9a-f]{40}$/.test(hash)) throw broken('git made a commit and gave no hash');
  return hash;
}
