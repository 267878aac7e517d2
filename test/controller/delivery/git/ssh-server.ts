import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { freePort } from '../../../cluster/ports.ts';
import type { Remote } from './remote.ts';

export interface SshServer {
  readonly url: string;
  /** Private key that it lets in. */
  readonly key: string;
  /** Its own line of a known_hosts file. */
  readonly knownHosts: string;
  /** Lets this key in instead. */
  readonly admit: (publicKey: string) => void;
  /** Starts again with another key of its own, and returns its new line. */
  readonly changeHostKey: () => Promise<string>;
}

/** A repository behind OpenSSH's server on 127.0.0.1, stopped with the test. */
export async function givenSshServer(context: TestContext, remote: Remote, sshd: string): Promise<SshServer> {
  const folder = join(remote.root, 'sshd');
  mkdirSync(folder, { mode: 0o700 });
  // Where it separates itself from its privileges; Debian's start script would make it.
  mkdirSync('/run/sshd', { recursive: true });
  const port = await freePort();
  const hostKey = keyPair(folder, 'host-0');
  const userKey = keyPair(folder, 'user');
  const admitted = join(folder, 'authorized_keys');
  const admit = (publicKey: string): void => writeFileSync(admitted, publicKey, { mode: 0o600 });
  admit(userKey.publicKey);
  let stop = await start('host-0');
  context.after(() => stop());

  async function start(name: string): Promise<() => Promise<void>> {
    const settings = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, name)}`,
      `AuthorizedKeysFile ${admitted}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
    ];
    writeFileSync(join(folder, 'config'), `${settings.join('\n')}\n`);
    const child = spawn(sshd, ['-D', '-e', '-f', join(folder, 'config')], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([listening(port), ended.then(([code]) => Promise.reject(new Error(`sshd ended: ${code}`)))]);
    return async () => {
      child.kill();
      await ended;
    };
  }

  let changes = 0;
  const line = (publicKey: string): string => `[127.0.0.1]:${port} ${publicKey}`;
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}${remote.path}`,
    key: userKey.privateKey,
    knownHosts: line(hostKey.publicKey),
    admit,
    changeHostKey: async () => {
      await stop();
      changes++;
      const { publicKey } = keyPair(folder, `host-${changes}`);
      stop = await start(`host-${changes}`);
      return line(publicKey);
    },
  };
}

/** A new Ed25519 key without a passphrase. */
export function keyPair(folder: string, name: string): { readonly privateKey: string; readonly publicKey: string } {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
  return { privateKey: readFileSync(path, 'utf8'), publicKey: readFileSync(`${path}.pub`, 'utf8') };
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setTimeout(20);
  }
}
