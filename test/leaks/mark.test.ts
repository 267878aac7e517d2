import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { generated, Mark } from './mark.ts';

const password = `plbpw_${randomBytes(24).toString('base64url')}`;

describe('a password is found', () => {
  for (const [where, text] of [
    ['alone', password],
    ['in a sentence', `ALTER ROLE app PASSWORD '${password}';`],
    ['in a URI', `postgresql://app:${password}@orders.shop.svc:5432/app`],
    ['percent-encoded', encodeURIComponent(`postgresql://app:${password}@orders`)],
    ['in JSON that is in JSON', JSON.stringify({ annotation: JSON.stringify({ password }) })],
    ['between bytes that are no text', Buffer.concat([randomBytes(50), Buffer.from(password), randomBytes(50)])],
  ] as const) {
    test(where, () => assert(generated.isIn(text)));
  }

  for (const before of [0, 1, 2, 3, 4, 5]) {
    test(`in Base64, after ${before} bytes`, () => {
      const text = Buffer.concat([randomBytes(before), Buffer.from(password), randomBytes(9)]).toString('base64');
      assert(generated.isIn(`data: ${text}`));
      assert(generated.isIn(Buffer.from(text).toString()));
    });
  }
});

describe('nothing is found', () => {
  for (const [where, text] of [
    ['in nothing', ''],
    ['where it is said how passwords begin', 'Generated passwords begin with `plbpw_`, so that they can be found.'],
    ['in its last half', password.slice(6)],
    ['in a password of somebody else', randomBytes(24).toString('base64url')],
    ['in what is only its beginning', 'plbpw_'],
  ] as const) {
    test(where, () => assert(!generated.isIn(text)));
  }

  test('by chance in 30 MB of Base64', () => {
    const text = randomBytes(22 * 2 ** 20).toString('base64');
    assert.deepEqual([...generated.offsetsIn(Buffer.from(text))], []);
  });
});

test('each place is found once', () => {
  const mark = new Mark('trial_');
  const text = `one trial_12345678 and another trial_abcdefgh, and trial_ no more`;
  assert.deepEqual([...mark.offsetsIn(Buffer.from(text))], [4, 31]);
});
