import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkAccess, type GitAccess } from '../../../../controller/delivery/git/access.ts';

const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n';
const knownHosts = 'git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5';
const https = 'https://git.example.org/x.git';
const password = (text: string, username?: string): GitAccess => ({
  login: { kind: 'password', password: text, ...(username === undefined ? {} : { username }) },
});
const ssh = (privateKey: string, hosts = knownHosts): GitAccess => ({
  login: { kind: 'ssh', privateKey, knownHosts: hosts },
});

const block = '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nc2VjcmV0\n-----END PGP PRIVATE KEY BLOCK-----\n';
const openPgp = (privateKey: string, passphrase?: string): GitAccess => ({
  signingKey: { kind: 'openpgp', privateKey, ...(passphrase === undefined ? {} : { passphrase }) },
});

const taken: readonly (readonly [string, string, GitAccess])[] = [
  ['nothing at all', https, {}],
  ['a token', https, password('s3cr3t')],
  ['a user and a password', https, password('s3 cr=3t', 'someone')],
  ['an SSH key', 'ssh://git@git.example.org/x.git', ssh(key)],
  ['an SSH key, with the short spelling of the URL', 'git@git.example.org:x.git', ssh(key)],
  ['a key without an end of line, as many a Secret has it', 'git@git.example.org:x.git', ssh(key.trim())],
  ['a key with the ends of lines of Windows', 'git@git.example.org:x.git', ssh(key.replaceAll('\n', '\r\n'))],
  ['comments in known_hosts', 'git@git.example.org:x.git', ssh(key, `# ours\n${knownHosts}`)],
  ['an OpenPGP key', https, openPgp(block, 'pass phrase')],
  ['an OpenPGP key without an end of line', https, openPgp(block.trim())],
  ['a signing key', https, { ...password('s3cr3t'), signingKey: { kind: 'ssh', privateKey: key } }],
];

const refused: readonly (readonly [string, string, GitAccess, RegExp])[] = [
  ['a token over plain HTTP', 'http://git.example.org/x', password('s3cr3t'), /goes with a URL that begins with https/],
  ['a token for a folder', '/srv/x.git', password('s3cr3t'), /https/],
  ['a token for ssh', 'git@git.example.org:x.git', password('s3cr3t'), /https/],
  ['an empty token', https, password(''), /password is empty/],
  ['a token that adds a line to what git is told', https, password('s3cr3t\nhost=evil'), /end of line/],
  ['a user name that adds one', https, password('s3cr3t', 'a\rb'), /user name has an end of line/],
  ['an SSH key for https', https, ssh(key), /goes with a URL of ssh/],
  ['a public key', 'git@git.example.org:x.git', ssh(knownHosts), /SSH key is no private key/],
  ['a key that was cut off', 'git@git.example.org:x.git', ssh(key.slice(0, 60)), /no private key/],
  ['no known host', 'git@git.example.org:x.git', ssh(key, ''), /known_hosts has no line/],
  ['an OpenPGP key that is a public one', https, openPgp(block.replaceAll('PRIVATE', 'PUBLIC')), /as gpg --armor/],
  ['an SSH key as OpenPGP key', https, openPgp(key), /as gpg --armor/],
  ['a passphrase of two lines', https, openPgp(block, 's3cr3t\ns3cr3t'), /passphrase has an end of line/],
  ['only comments in known_hosts', 'git@git.example.org:x.git', ssh(key, '# later\n'), /known_hosts has no line/],
  [
    'a signing key that is none',
    https,
    { signingKey: { kind: 'ssh', privateKey: 's3cr3t' } },
    /signing key is no private key/,
  ],
];

describe('what a repository lets Plumbline in by', () => {
  for (const [what, url, access] of taken) test(`takes ${what}`, () => checkAccess(url, access));

  for (const [what, url, access, message] of refused) {
    test(`refuses ${what}, without a word of it`, () => {
      assert.throws(
        () => checkAccess(url, access),
        (error) => {
          assert.match(String(error), message);
          assert.doesNotMatch(String(error), /s3cr3t|c2VjcmV0/);
          assert.equal((error as { reason?: string }).reason, 'AccessRefused');
          return true;
        },
      );
    });
  }
});
