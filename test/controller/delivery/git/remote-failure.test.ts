import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureOf } from '../../../../controller/delivery/git/remote-failure.ts';

/** Words as git, OpenSSH and libcurl with three TLS libraries write them. */
const remote: readonly (readonly [string, string])[] = [
  ['CredentialsRefused', "fatal: Authentication failed for 'https://git.example.org/x.git/'"],
  ['CredentialsRefused', "fatal: could not read Username for 'https://git.example.org': terminal prompts disabled"],
  ['CredentialsRefused', "fatal: unable to access 'https://git.example.org/x/': The requested URL returned error: 403"],
  ['CredentialsRefused', 'git@git.example.org: Permission denied (publickey).\nfatal: Could not read from remote'],
  [
    'HostKeyRefused',
    'No ED25519 host key is known for x and you have requested strict checking.\nHost key verification failed.',
  ],
  [
    'HostKeyRefused',
    '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\nPermission denied (publickey).',
  ],
  ['CertificateRefused', 'fatal: SSL certificate problem: unable to get local issuer certificate'],
  ['CertificateRefused', 'fatal: server certificate verification failed. CAfile: none CRLfile: none'],
  ['RemoteUnreachable', "fatal: unable to access 'https://git.example.org/x/': The requested URL returned error: 301"],
  ['DiskFull', 'fatal: write error: No space left on device\nfatal: index-pack failed'],
  ['DiskFull', 'error: unable to write file: Disk quota exceeded'],
  ['GitFailed', "fatal: repository 'https://git.example.org/x.git/' not found"],
  ['GitFailed', 'fatal: unable to access: Could not resolve host: git.example.org'],
  ['GitFailed', 'remote: Permission denied (policy)\n! [remote rejected] main -> main (pre-receive hook declined)'],
  ['GitFailed', 'remote: fatal: write error: No space left on device\nerror: remote unpack failed: index-pack failed'],
];

describe('what a failed git command says', () => {
  for (const [reason, words] of remote) {
    test(`${reason}: ${words.slice(0, 60).replaceAll('\n', ' ')}`, () => {
      assert.equal(failureOf(words, true).reason, reason);
    });
  }

  test('names nothing of the server where the command does not talk to it', () => {
    assert.equal(failureOf('fatal: Permission denied (publickey)', false).reason, 'GitFailed');
    assert.equal(failureOf('fatal: No space left on device', false).reason, 'DiskFull');
  });
});
