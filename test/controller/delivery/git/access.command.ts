import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { GitAccess, PasswordLogin } from '../../../../controller/delivery/git/access.ts';
import { installed } from '../../../constructs/postgresql/installed.ts';
import { database, givenRemote, givenWriter } from './given.ts';
import { givenHttpsServer } from './https-server.ts';
import { givenSshServer, keyPair } from './ssh-server.ts';
import { processesFor } from './processes-for.ts';

const token = 's3cr3t-t0ken-of-the-test';

function filesWith(text: string, folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path, 'latin1').includes(text));
}

describe('a repository over HTTPS that wants a login', () => {
  const login = (password = token): PasswordLogin => ({ kind: 'password', username: 'plumbline', password });

  test('takes the token, which no process, no file left behind and no setting of git shows', async (t) => {
    // GIVEN
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    let isGitSeen = false;
    const shown: string[] = [];
    server.onRequest = () => {
      const all = processesFor(remote.root);
      isGitSeen ||= all.some((one) => one.includes('remote-https'));
      if (all.some((one) => one.includes(token))) shown.push('a process');
      const access = join(remote.root, 'clone', 'access');
      if (existsSync(access)) {
        assert.equal(statSync(access).mode & 0o777, 0o700);
        assert.equal(statSync(join(access, 'login')).mode & 0o777, 0o600);
      }
    };
    // WHEN
    const access = (): GitAccess => ({ login: login(), certificateAuthority: server.authority });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await writer.submit(database('orders'));
    await writer.submit(database('orders', '18', 2));
    // THEN
    assert.equal(remote.commits(), 2);
    assert.ok(isGitSeen, 'git was looked at while it ran');
    assert.deepEqual(shown, []);
    assert.deepEqual(filesWith(token, join(remote.root, 'clone')), []);
    assert.equal(existsSync(join(remote.root, 'clone', 'access')), false);
  });

  test('a token that is no longer valid is named without being shown, and a new one counts at once', async (t) => {
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    let password = token;
    const access = (): GitAccess => ({ login: login(password), certificateAuthority: server.authority });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await writer.submit(database('orders'));
    server.login = 'plumbline:another-one';
    await assert.rejects(writer.submit(database('orders', '18', 2)), (error: Error & { reason?: string }) => {
      assert.equal(error.reason, 'CredentialsRefused');
      assert.match(error.message, /Authentication failed.*Check whether the token, password or key is still valid/);
      assert.doesNotMatch(error.message, new RegExp(token));
      return true;
    });
    password = 'another-one';
    assert.equal((await writer.submit(database('orders', '18', 2))).isNew, true);
    assert.equal(remote.commits(), 2);
  });

  test('what the server sends back of it is left out', async (t) => {
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    remote.hook('pre-receive', `echo "no entry for ${token}" >&2; exit 1`);
    const access = (): GitAccess => ({ login: login(), certificateAuthority: server.authority });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'PushRefused',
      message: /remote: no entry for \*\*\*/,
    });
  });

  test('a login that is missing is named as such', async (t) => {
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    const access = (): GitAccess => ({ certificateAuthority: server.authority });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await assert.rejects(writer.submit(database('orders')), { reason: 'CredentialsRefused' });
  });

  test('a certificate of an authority that nobody named gets no token', async (t) => {
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    const writer = await givenWriter(t, remote, { url: server.url, access: () => ({ login: login() }) });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'CertificateRefused',
      message: /Name the authority that the certificate of the server comes from/,
    });
    assert.deepEqual(server.seen, []);
  });

  test('a server that sends git elsewhere does not send the token along', async (t) => {
    // GIVEN two servers with one authority's trust each
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    const other = await givenHttpsServer(t, remote, `plumbline:${token}`);
    server.redirect = new URL(other.url).origin;
    const both = `${server.authority}${other.authority}`;
    const access = (): GitAccess => ({ login: login(), certificateAuthority: both });
    // WHEN
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'RemoteUnreachable',
      message: /a password is sent to none but the one that was named/,
    });
    // THEN
    assert.deepEqual(other.seen, []);
    assert.ok(server.seen.every((given) => given === undefined));
  });

  test('a server that hangs is given up after the time, and no process stays behind', async (t) => {
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `plumbline:${token}`);
    server.isHanging = true;
    const access = (): GitAccess => ({ login: login(), certificateAuthority: server.authority });
    const writer = await givenWriter(t, remote, { url: server.url, access, timeoutMs: 3000 });
    await assert.rejects(writer.submit(database('orders')), { reason: 'GitTimedOut' });
    assert.deepEqual(processesFor(remote.root), []);
    assert.equal(existsSync(join(remote.root, 'clone', 'access')), false);
    server.isHanging = false;
    assert.equal((await writer.submit(database('orders'))).isNew, true);
  });
});

const sshd = installed('sshd', 'openssh-server');
const skip = 'skip' in sshd ? sshd.skip : process.getuid?.() === 0 ? false : 'an SSH server of its own needs root';

describe('a repository over SSH', { skip }, () => {
  const path = 'path' in sshd ? sshd.path : '';

  test('takes the key, in a folder with a blank in its name too, and leaves nothing behind', async (t) => {
    const remote = givenRemote(t);
    const server = await givenSshServer(t, remote, path);
    const { key: privateKey, knownHosts } = server;
    const secret = privateKey.split('\n')[2] ?? '';
    const seen = join(remote.root, 'seen');
    remote.hook('pre-receive', `cat /proc/[0-9]*/cmdline 2>/dev/null > '${seen}'; exit 0`);
    const writer = await givenWriter(t, remote, {
      url: server.url,
      directory: join(remote.root, "some body's clone 100%h"),
      access: () => ({ login: { kind: 'ssh', privateKey: privateKey.trim(), knownHosts } }),
    });
    await writer.submit(database('orders'));
    assert.equal(remote.commits(), 1);
    const shown = readFileSync(seen, 'latin1');
    assert.ok(shown.includes('StrictHostKeyChecking=yes'), 'ssh was looked at while it ran');
    assert.ok(!shown.includes(secret), 'an argument shows the key');
    assert.deepEqual(filesWith(secret, join(remote.root, "some body's clone 100%h")), []);
  });

  test('a key that it does not take is named, and works once it is let in', async (t) => {
    const remote = givenRemote(t);
    const server = await givenSshServer(t, remote, path);
    const { privateKey, publicKey } = keyPair(remote.root, 'new');
    const { knownHosts } = server;
    const access = (): GitAccess => ({ login: { kind: 'ssh', privateKey, knownHosts } });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'CredentialsRefused',
      message: /Permission denied \(publickey\)/,
    });
    server.admit(publicKey);
    assert.equal((await writer.submit(database('orders'))).isNew, true);
  });

  test('a host key that changed ends the talk, until known_hosts has the new one', async (t) => {
    const remote = givenRemote(t);
    const server = await givenSshServer(t, remote, path);
    let { knownHosts } = server;
    const access = (): GitAccess => ({ login: { kind: 'ssh', privateKey: server.key, knownHosts } });
    const writer = await givenWriter(t, remote, { url: server.url, access });
    await writer.submit(database('orders'));
    const changed = await server.changeHostKey();
    await assert.rejects(writer.submit(database('orders', '18', 2)), {
      reason: 'HostKeyRefused',
      message: /Host key verification failed.*somebody is in between/,
    });
    assert.equal(remote.commits(), 1);
    knownHosts = changed;
    assert.equal((await writer.submit(database('orders', '18', 2))).isNew, true);
  });
});

describe('a signing key', () => {
  test('signs each commit, so that git verify-commit takes it, and stays secret', async (t) => {
    // GIVEN a key and who may sign with it
    const remote = givenRemote(t);
    const { privateKey, publicKey } = keyPair(remote.root, 'signing');
    const signers = join(remote.root, 'allowed-signers');
    writeFileSync(signers, `plumbline@localhost ${publicKey}`);
    remote.somebodyPushes({ 'README.md': 'hello' });
    const secret = privateKey.split('\n')[2] ?? '';
    // WHEN
    const writer = await givenWriter(t, remote, { access: () => ({ signingKey: { kind: 'ssh', privateKey } }) });
    await writer.submit(database('orders'));
    await writer.submit(database('orders', '18', 2));
    // THEN
    const verify = (commit: string): string =>
      remote.inRemote('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'log', '-1', '--format=%G? %GS', commit);
    assert.equal(verify('main'), 'G plumbline@localhost');
    assert.equal(verify('main~1'), 'G plumbline@localhost');
    remote.inRemote('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', 'main');
    assert.equal(remote.commits(), 3);
    assert.equal(
      remote.inRemote('log', '-1', '--format=%an <%ae> %cn %aI', 'main'),
      'Plumbline <plumbline@localhost> Plumbline 2026-01-01T00:00:00+00:00',
    );
    assert.match(remote.message(), /^Update shop\/orders: image 17 → 18\n[^]*\nPlumbline-Generation: 2/);
    assert.deepEqual(filesWith(secret, join(remote.root, 'clone')), []);
  });

  test('that is damaged makes no commit, and is not shown', async (t) => {
    const remote = givenRemote(t);
    const { privateKey } = keyPair(remote.root, 'signing');
    const signingKey = {
      kind: 'ssh',
      privateKey: privateKey.replace(/^(.*\n)(.{20})/, '$1AAAAAAAAAAAAAAAAAAAA'),
    } as const;
    const writer = await givenWriter(t, remote, { access: () => ({ signingKey }) });
    await assert.rejects(writer.submit(database('orders')), (error: Error & { reason?: string }) => {
      assert.equal(error.reason, 'SigningFailed');
      assert.doesNotMatch(error.message, /AAAAAAAA/);
      return true;
    });
    assert.equal(remote.commits(), 0);
  });
});
