import { existsSync } from 'node:fs';
import { GitPluginError, simpleGit, type SimpleGitOptions } from 'simple-git';
import { GitDeliveryError } from './git-delivery-error.ts';

export interface GitProcessOptions {
  /** The bare repository that every command is about. */
  readonly gitDirectory: string;
  /** An empty folder of our own: no configuration of the user's is read. */
  readonly home: string;
  /** After this time a command is killed. Defaults to 1 minute. */
  readonly timeoutMs?: number;
  /** Where PATH, the SSH agent and proxies are taken from, and nothing else. Defaults to the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface GitRun {
  readonly input?: string | Buffer;
  /** Exit codes besides 0 that are an answer, not a failure. */
  readonly answers?: readonly number[];
}

const inherited = [
  'PATH',
  'SSH_AUTH_SOCK',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** Runs git commands, each in an environment that holds no more than it needs: no user or system configuration, no prompt. */
export class GitProcess {
  readonly #options: GitProcessOptions;
  readonly #timeoutMs: number;
  #started = 0;

  constructor(options: GitProcessOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
  }

  /** How many commands were ever started. */
  get started(): number {
    return this.#started;
  }

  /**
   * Returns what the command wrote to standard output.
   * @throws GitDeliveryError GitMissing, GitTimedOut, GitFailed
   */
  async run(args: readonly string[], { input, answers = [] }: GitRun = {}): Promise<string> {
    const { home } = this.#options;
    const variables = this.#environment();
    const options: Partial<SimpleGitOptions> = {
      baseDir: home,
      // The whole command, however much it prints meanwhile.
      timeout: { block: this.#timeoutMs, stdErr: false, stdOut: false },
      // simple-git's 50 ms after the exit could take half a listing for a whole one; 1 s is for a child that keeps a pipe open.
      completion: { onClose: true, onExit: 1000 },
      // git commands that fail without a word on standard error count as successes for simple-git.
      errors: (error, { exitCode, stdOut, stdErr }) => {
        if (answers.includes(exitCode)) return undefined;
        return exitCode === 0 || error !== undefined ? error : Buffer.concat([...stdErr, ...stdOut]);
      },
      input: () => input,
      allowEnvironment: Object.keys(variables).filter((name) => name.startsWith('GIT_')),
      unsafe: { allowUnsafeSshCommand: true },
    };
    this.#started++;
    try {
      return await simpleGit(options)
        .env(variables)
        .raw([...args]);
    } catch (error) {
      throw this.#explain(String(args[0]), error);
    }
  }

  #environment(): Record<string, string> {
    const { environment = process.env, gitDirectory, home } = this.#options;
    const variables: Record<string, string> = {
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      // Named, so that a damaged repository is never taken for a reason to look for one in the folders above.
      GIT_DIR: gitDirectory,
      // BatchMode: ssh never asks, on no terminal either.
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    };
    for (const name of inherited) {
      const value = environment[name];
      if (value !== undefined) variables[name] = value;
    }
    return variables;
  }

  #explain(command: string, error: unknown): GitDeliveryError {
    if (error instanceof GitPluginError && error.plugin === 'timeout') {
      const seconds = this.#timeoutMs / 1000;
      const message = `git ${command} took longer than ${seconds} s and was ended. See whether the repository answers, and how large it is.`;
      return new GitDeliveryError('GitTimedOut', message);
    }
    const words = error instanceof Error ? error.message : String(error);
    if (/spawn \S+ ENOENT/.test(words) && existsSync(this.#options.home)) {
      return new GitDeliveryError(
        'GitMissing',
        'The git program was not found; install git, or turn the Git delivery off.',
      );
    }
    return new GitDeliveryError('GitFailed', `git ${command} failed: ${shorten(words)}`);
  }
}

/** The telling lines of git's output, without what stands before an @ in a URL. */
function shorten(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'));
  const telling = lines.filter((line) => /^(fatal|error|remote|ssh|!| !|.*denied|.*refused)/i.test(line));
  const text = (telling.length > 0 ? telling : lines).map((line) => line.trim()).join(' / ');
  return text.replaceAll(/\/\/[^/@\s]+@/g, '//').slice(0, 400) || 'it gave no reason';
}
