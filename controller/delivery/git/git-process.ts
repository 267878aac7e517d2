import { existsSync } from 'node:fs';
import type { CommandEnd } from './command.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { runLocal } from './local-command.ts';
import { runGroup } from './process-group.ts';
import { failureOf } from './remote-failure.ts';

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
  /** Whether it talks to the server. Defaults to false. */
  readonly isRemote?: boolean;
  /** Whether it starts other programs, as one does that talks to the server, or signs. Defaults to `isRemote`. */
  readonly startsOthers?: boolean;
  /** After this time it is killed. Defaults to that of the process. */
  readonly timeoutMs?: number;
  /** Of the environment, for this command alone. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What no message may show, though a server sent it back. */
  readonly secrets?: readonly string[];
}

/** Of a command. */
export const defaultTimeoutMs = 60_000;

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
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** How many commands were ever started. */
  get started(): number {
    return this.#started;
  }

  /**
   * Returns what the command wrote to standard output.
   * @throws GitDeliveryError GitMissing, GitTimedOut, DiskFull, GitFailed; with `isRemote` also CredentialsRefused,
   * HostKeyRefused, CertificateRefused
   */
  async run(args: readonly string[], run: GitRun = {}): Promise<string> {
    return (await this.bytes(args, run)).toString();
  }

  /** The same of what need not be text. */
  async bytes(args: readonly string[], run: GitRun = {}): Promise<Buffer> {
    const { answers = [] } = run;
    this.#started++;
    const end = await this.#start(args, run);
    if (!end.isTimedOut && end.code !== undefined && [0, ...answers].includes(end.code)) return end.output;
    throw this.#explain(String(args[0]), end, run);
  }

  async #start(args: readonly string[], run: GitRun): Promise<CommandEnd> {
    const { home: directory } = this.#options;
    const { input, startsOthers = run.isRemote ?? false } = run;
    const environment = { ...this.#environment(), ...run.variables };
    const options = { directory, environment, input, timeoutMs: run.timeoutMs ?? this.#timeoutMs };
    try {
      // simple-git ends git alone, and what that has started would wait for as long as the server hangs.
      return await (startsOthers ? runGroup('git', args, options) : runLocal(args, options));
    } catch (error) {
      if (isMissing(error) && existsSync(directory)) {
        const message = 'The git program was not found; install git, or turn the Git delivery off.';
        throw new GitDeliveryError('GitMissing', message);
      }
      throw new GitDeliveryError('GitFailed', `git ${args[0]} failed: ${String(error)}`);
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

  #explain(
    command: string,
    end: CommandEnd,
    { isRemote = false, secrets = [], timeoutMs = this.#timeoutMs }: GitRun,
  ): GitDeliveryError {
    if (end.isTimedOut) {
      const seconds = timeoutMs / 1000;
      const message = `git ${command} took longer than ${seconds} s and was ended. See whether the repository answers, and how large it is.`;
      return new GitDeliveryError('GitTimedOut', message);
    }
    const words = without(secrets, `${end.errors}\n${end.output.toString()}`);
    const { reason, remedy } = failureOf(words, isRemote);
    const message = `git ${command} failed: ${shorten(words)}`;
    return new GitDeliveryError(reason, remedy === undefined ? message : `${message}. ${remedy}`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function without(secrets: readonly string[], words: string): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), words);
}

/** The telling lines of git's output, without what stands before an @ in a URL. */
function shorten(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'));
  const telling = lines.filter((line) => /^(fatal|error|remote|ssh|!| !|.*denied|.*refused|host key)/i.test(line));
  const text = (telling.length > 0 ? telling : lines).map((line) => line.trim()).join(' / ');
  return text.replaceAll(/\/\/[^/@\s]+@/g, '//').slice(0, 400) || 'it gave no reason';
}
