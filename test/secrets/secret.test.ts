import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { suspects } from './secret.ts';

/** As good as drawn, and the same in each run: what is drawn could look like words now and then. */
const drawn = createHash('sha256').update('a secret');
const letters = (count: number): string => drawn.copy().digest('hex').slice(0, count);
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const random = `a1${drawn.copy().digest('base64url').slice(0, 32)}`;
const token = ['{"alg":"RS256"}', '{"iss":"kubernetes"}', random].map((part) =>
  Buffer.from(part).toString('base64url'),
);

describe('is found', () => {
  for (const [kind, text] of [
    ['private key', `key:\n${key.toString()}`],
    ['private key', JSON.stringify({ key: key.toString() })],
    ['password of a database of Plumbline', `uri: postgresql://app:plbpw_${random}@orders`],
    ['JSON Web Token', `Authorization: Bearer ${token.join('.')}`],
    ['token of GitHub', `ghp_${letters(36)}`],
    ['token of GitLab', `https://oauth2@git.example # glpat-${letters(20)}`],
    ['token of npm', `//registry/:_authToken=npm_${letters(36)}`],
    ['token of Slack', `xoxb-${letters(20)}`],
    ['key of AWS', `AKIA${letters(16).toUpperCase()}`],
    ['key of Google', `AIza${letters(35)}`],
    ['password', `password: ${random}`],
    ['password', `  "api_key": "${random}",`],
    ['password', `const secret = '0a${letters(38)}';`],
    ['password', `PGPASSWORD=${random} psql`],
    ['password', `url: https://robot:${random}@git.example/fleet`],
  ] as const) {
    test(`${kind}: ${text.slice(0, 12).trim()}…`, () => {
      const found = suspects(`a line\n${text}\nanother\n`);
      assert(
        found.some((one) => one.kind === kind && one.line >= 2),
        JSON.stringify(found),
      );
    });
  }
});

describe('is no secret', () => {
  for (const text of [
    'secretName: orders-credentials-of-the-user',
    'credentials: {source: Existing, secretName: ledger-login}',
    'password: $(cat /run/secrets/orders/password)',
    "const password = 'another-one-of-20-letters';",
    'tokens: ["tokenreviews", "subjectaccessreviews"]',
    '-----BEGIN PRIVATE KEY-----',
    'begin with `plbpw_`: `plbpw_[A-Za-z0-9_-]{32}`',
    'url: https://git.example:8443/fleet.git',
    'image: registry.example/pg@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
  ]) {
    test(text, () => assert.deepEqual(suspects(text), []));
  }
});
