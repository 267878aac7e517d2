import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signerIn } from '../../../../controller/delivery/git/signer.ts';

interface Listed {
  readonly validity?: string;
  readonly expires?: string;
  readonly capabilities?: string;
  readonly isElsewhere?: true;
}

/** A key as gpg lists it, with a fingerprint of one digit. */
function listed(type: 'sec' | 'ssb', digit: string, key: Listed): string {
  const { validity = 'u', expires = '', capabilities = '', isElsewhere } = key;
  const place = isElsewhere ? '#' : '+';
  return `${type}:${validity}:255:22:${digit.repeat(16)}:1600000000:${expires}::u:::${capabilities}:::${place}::ed25519:::0:\nfpr:::::::::${digit.repeat(40)}:\n`;
}

const primary = (key: Listed): string => `${listed('sec', 'A', key)}uid:u::::1::2::bot <bot@example.org>::::::::::0:\n`;
const A = 'A'.repeat(40);

const cases: readonly (readonly [what: string, listing: string, is: RegExp])[] = [
  ['nothing is listed', '', /^none/],
  ['a public key', listed('sec', 'A', { capabilities: 's' }).replaceAll('sec:', 'pub:'), /^none/],
  ['the primary key signs', primary({ capabilities: 'scSC' }), /^found A{40}$/],
  ['a subkey signs', primary({ capabilities: 'cSC' }) + listed('ssb', 'B', { capabilities: 's' }), /^found A{40}$/],
  [
    'a subkey signs, the primary key is kept elsewhere',
    primary({ capabilities: 'scSC', isElsewhere: true }) + listed('ssb', 'B', { capabilities: 's' }),
    /^found A{40}$/,
  ],
  ['all that signs is kept elsewhere', primary({ capabilities: 'sc', isElsewhere: true }), /no part that may sign/],
  [
    'it has expired',
    primary({ validity: 'e', expires: '86400', capabilities: 'sc' }),
    /expired on 1970-01-02: prolong/,
  ],
  ['it was revoked', primary({ validity: 'r', capabilities: 'sc' }), /was revoked/],
  [
    'the subkey that signs has expired',
    primary({ capabilities: 'c' }) + listed('ssb', 'B', { validity: 'e', expires: '86400', capabilities: 's' }),
    /its subkey has expired on 1970-01-02/,
  ],
  [
    'one subkey that signs has expired, another has not',
    primary({ capabilities: 'c' }) +
      listed('ssb', 'B', { validity: 'e', capabilities: 's' }) +
      listed('ssb', 'C', { capabilities: 's' }),
    /^found/,
  ],
  ['it encrypts', primary({ capabilities: 'cC' }) + listed('ssb', 'B', { capabilities: 'e' }), /no part that may sign/],
  [
    'there are two, of which the first counts',
    primary({ capabilities: 'c' }) + listed('sec', 'B', { capabilities: 'sc' }),
    new RegExp(`${A} has no part`),
  ],
];

describe('the key of a block that signs', () => {
  for (const [what, listing, is] of cases) {
    test(what, () => {
      const signer = signerIn(listing);
      const said = { found: 'fingerprint' in signer ? `found ${signer.fingerprint}` : '', none: 'none', unfit: '' };
      assert.match('why' in signer ? signer.why : said[signer.kind], is);
    });
  }
});
