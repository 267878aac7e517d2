import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenPgpKey } from './access.ts';
import type { CommandEnd } from './command.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { runGroup } from './process-group.ts';
import { signerIn } from './signer.ts';

/** What GnuPG is run with. */
export interface OpenPgpOptions {
  /** A folder of its own; it is removed after each use. Its path must be short: GnuPG makes sockets in it. */
  readonly folder: string;
  /** Where PATH is taken from. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of each command, after which it is killed. */
  readonly timeoutMs: number;
}

/** No smart card, and no long stretching of a passphrase that lies beside the key: it would take a second of each commit. */
const agentSettings = 'disable-scdaemon\ns2k-count 65536\n';

/**
 * An armoured signature of what is given, by the first private key of the block. GnuPG's own agent holds the key meanwhile; afterwards neither that nor
 * a file of it is left.
 *
 * @throws GitDeliveryError SigningFailed, which says what is wrong with the key or the passphrase and shows neither
 */
export async function signOpenPgp(payload: string, key: OpenPgpKey, options: OpenPgpOptions): Promise<string> {
  const { folder } = options;
  // What a process that was killed has left: its agent ends when the socket is gone.
  await rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await sign(payload, key, options);
  } finally {
    // gpg starts one that outlives it. Where that fails, it ends with its socket.
    await run('gpgconf', ['--kill', 'gpg-agent'], options).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

async function sign(payload: string, { privateKey, passphrase }: OpenPgpKey, options: OpenPgpOptions): Promise<string> {
  const { folder } = options;
  const write = (name: string, content: string): Promise<void> =>
    writeFile(join(folder, name), content, { mode: 0o600, flag: 'wx' });
  await write('gpg-agent.conf', agentSettings);
  await write('passphrase', `${passphrase ?? ''}\n`);
  const unlocked = ['--pinentry-mode', 'loopback', '--passphrase-file', join(folder, 'passphrase')];
  const gpg = (args: readonly string[], input = ''): Promise<CommandEnd> =>
    run('gpg', ['--batch', '--no-tty', '--disable-dirmngr', ...unlocked, ...args], options, input);

  const imported = await gpg(['--import'], `${privateKey}\n`);
  const listed = await gpg(['--with-colons', '--list-secret-keys']);
  const signer = signerIn(listed.output.toString());
  if (signer.kind === 'none') throw failed(`gpg finds no private key in it (${words(imported)})`);
  if (signer.kind === 'unfit') throw failed(signer.why);

  const signed = await gpg(['--local-user', signer.fingerprint, '--armor', '--detach-sign'], payload);
  const signature = signed.output.toString();
  if (signed.code === 0 && signature.startsWith('-----BEGIN PGP SIGNATURE-----')) return signature;
  if (!/passphrase/i.test(signed.errors))
    throw failed(`gpg does not sign with ${signer.fingerprint} (${words(signed)})`);
  throw failed(
    passphrase === undefined
      ? `${signer.fingerprint} has a passphrase, and the Secret has none: put it there as pgp-passphrase`
      : `pgp-passphrase is not the passphrase of ${signer.fingerprint}`,
  );
}

async function run(
  program: 'gpg' | 'gpgconf',
  args: readonly string[],
  { folder, environment, timeoutMs }: OpenPgpOptions,
  input?: string,
): Promise<CommandEnd> {
  const variables = { PATH: environment['PATH'] ?? '', HOME: folder, GNUPGHOME: folder, LC_ALL: 'C' };
  try {
    const end = await runGroup(program, args, { directory: folder, environment: variables, input, timeoutMs });
    if (end.isTimedOut) throw failed(`${program} took longer than ${timeoutMs / 1000} s and was ended`);
    return end;
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
    throw failed('GnuPG is not beside the controller: install it, or sign with an SSH key');
  }
}

/** The telling lines of GnuPG's messages, without the folder. */
function words({ errors }: CommandEnd): string {
  const lines = errors.split('\n').filter((line) => line.startsWith('gpg: ') && !/keybox|trustdb/.test(line));
  return (
    lines
      .map((line) => line.slice('gpg: '.length))
      .join(' / ')
      .slice(0, 300) || 'it gave no reason'
  );
}

function failed(what: string): GitDeliveryError {
  return new GitDeliveryError(
    'SigningFailed',
    `The commit can't be signed with the OpenPGP key: ${what}. Nothing was pushed.`,
  );
}

/** A commit as git stores it, with its signature: after the other headers, with a blank before each further line (`gpgsig` in git's documentation). */
export function withSignature(commit: string, signature: string): string {
  const end = commit.indexOf('\n\n');
  const header = `gpgsig ${signature.trimEnd().replaceAll('\n', '\n ')}`;
  return `${commit.slice(0, end)}\n${header}${commit.slice(end)}`;
}
