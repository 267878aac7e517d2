import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import type { OpenPgpKey } from '../../../../controller/delivery/git/access.ts';
import { installed } from '../../../constructs/postgresql/installed.ts';
import { database, givenRemote, givenWriter } from './given.ts';
import { OpenPgpKeys } from './open-pgp-keys.ts';
import { processesFor } from './processes-for.ts';

const gpg = installed('gpg', 'gnupg');
const skip = 'skip' in gpg ? gpg.skip : false;

async function givenSigner(t: TestContext, key: (keys: OpenPgpKeys) => Omit<OpenPgpKey, 'kind'>) {
  const remote = givenRemote(t);
  const keys = new OpenPgpKeys(t, remote.root);
  const signingKey = { kind: 'openpgp', ...key(keys) } as const;
  const writer = await givenWriter(t, remote, { access: () => ({ signingKey }) });
  return { remote, keys, writer, signingKey };
}

describe('an OpenPGP key', { skip }, () => {
  test('signs each commit, so that git verify-commit takes it, and nothing of it is left', async (t) => {
    // GIVEN a key with a passphrase
    const passphrase = 'a pass phrase, of the test';
    const { remote, keys, writer } = await givenSigner(t, (keys) => ({
      privateKey: keys.make('bot', { passphrase }),
      passphrase,
    }));
    const folder = join(remote.root, 'clone', 'gpg');
    const modes = new Set<number>();
    const watcher = watch(remote.root, { recursive: true }, () => {
      if (existsSync(folder)) modes.add(statSync(folder, { throwIfNoEntry: false })?.mode ?? 0o700);
    });
    t.after(() => watcher.close());
    // WHEN
    await writer.submit(database('orders'));
    await writer.submit(database('orders', '18', 2));
    // THEN
    for (const commit of ['main', 'main~1']) {
      const verify = ['--git-dir', remote.path, 'verify-commit', '--raw', commit];
      execFileSync('git', verify, { env: keys.environment, stdio: 'pipe' });
      const said = execFileSync('git', ['--git-dir', remote.path, 'log', '-1', '--format=%G? %GF %GS', commit], {
        env: keys.environment,
        encoding: 'utf8',
      });
      assert.equal(said.trim(), `G ${keys.fingerprint('bot')} bot <bot@example.org>`);
    }
    assert.match(remote.message(), /^Update shop\/orders: image 17 → 18\n[^]*\nPlumbline-Generation: 2\n/);
    assert.equal(remote.inRemote('log', '-1', '--format=%an %cn', 'main'), 'Plumbline Plumbline');
    remote.inRemote('fsck', '--strict');
    // AND
    assert.ok([...modes].every((mode) => (mode & 0o077) === 0));
    assert.ok(!existsSync(folder));
    for (let tries = 0; processesFor(folder).length > 0 && tries < 600; tries++) await setTimeout(100);
    assert.deepEqual(processesFor(folder), []);
  });

  test('may sign by a subkey', async (t) => {
    const { remote, keys, writer } = await givenSigner(t, (keys) => {
      keys.make('bot', { usage: 'cert' });
      const unlocked = ['--pinentry-mode', 'loopback', '--passphrase', ''];
      keys.gpg(...unlocked, '--quick-add-key', keys.fingerprint('bot'), 'ed25519', 'sign', '1y');
      return { privateKey: keys.gpg(...unlocked, '--armor', '--export-secret-subkeys', 'bot@example.org') };
    });
    await writer.submit(database('orders'));
    execFileSync('git', ['--git-dir', remote.path, 'verify-commit', 'main'], { env: keys.environment, stdio: 'pipe' });
  });

  const refusals: readonly (readonly [
    string,
    (keys: OpenPgpKeys) => Omit<OpenPgpKey, 'kind'>,
    RegExp,
    ('AccessRefused' | 'SigningFailed')?,
  ])[] = [
    [
      'has a passphrase that is not there',
      (keys) => ({ privateKey: keys.make('bot', { passphrase: 'h0rsestaple' }) }),
      /put it there as pgp-passphrase/,
    ],
    [
      'has another passphrase',
      (keys) => ({ privateKey: keys.make('bot', { passphrase: 'h0rsestaple' }), passphrase: 'hunter2' }),
      /pgp-passphrase is not the passphrase of [0-9A-F]{40}/,
    ],
    [
      'has expired',
      (keys) => ({ privateKey: keys.make('bot', { at: '20200101T000000', expires: '1d' }) }),
      /has expired on 2020-01-02: prolong it/,
    ],
    [
      'is for encryption alone',
      (keys) => ({ privateKey: keys.make('bot', { usage: 'encr' }) }),
      /has no part that may sign/,
    ],
    [
      'is damaged',
      (keys) => ({ privateKey: keys.make('bot').replace(/\n\n(.{20})/, `\n\n${'A'.repeat(20)}`) }),
      /gpg finds no private key in it/,
    ],
    [
      'is a public key',
      (keys) => {
        keys.make('bot');
        return { privateKey: keys.gpg('--armor', '--export', 'bot@example.org') };
      },
      /no private key as gpg --armor --export-secret-keys writes it/,
      'AccessRefused',
    ],
  ];
  for (const [what, key, message, reason = 'SigningFailed'] of refusals) {
    test(`that ${what} makes no commit, is told as that, and is not shown`, async (t) => {
      const { remote, writer, signingKey } = await givenSigner(t, key);
      await assert.rejects(writer.submit(database('orders')), (error: Error & { reason?: string }) => {
        assert.equal(error.reason, reason);
        assert.match(error.message, message);
        const secrets = [...signingKey.privateKey.split('\n').slice(2, 4), 'h0rsestaple', 'hunter2'];
        for (const secret of secrets) assert.ok(secret === '' || !error.message.includes(secret), error.message);
        return true;
      });
      assert.equal(remote.commits(), 0);
      assert.ok(!existsSync(join(remote.root, 'clone', 'gpg')));
    });
  }

  test('without GnuPG is told as that', async (t) => {
    const remote = givenRemote(t);
    const keys = new OpenPgpKeys(t, remote.root);
    const signingKey = { kind: 'openpgp', privateKey: keys.make('bot') } as const;
    // A PATH with git alone.
    const folder = join(remote.root, 'bin');
    execFileSync('sh', ['-c', `mkdir '${folder}' && ln -s "$(command -v git)" '${folder}/git'`]);
    const environment = { PATH: folder };
    const writer = await givenWriter(t, remote, { environment, access: () => ({ signingKey }) });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'SigningFailed',
      message: /GnuPG is not beside the controller/,
    });
  });
});
