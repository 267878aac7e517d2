import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FolderClaims } from '../../../../controller/delivery/git/folder-claims.ts';

const orders = { key: 'shop/orders', folder: 'clusters/prod/shop/orders', isRemoval: false };
const taken: readonly (readonly [string, string])[] = [
  ['the folder of another one', 'clusters/prod/shop/orders'],
  ['a folder in that of another one', 'clusters/prod/shop/orders/shop/billing'],
  ['a folder around that of another one', 'clusters/prod'],
];

describe('the folders of databases that share a branch', () => {
  for (const [what, folder] of taken) {
    test(`a database does not get ${what}, until that is given up`, () => {
      const claims = new FolderClaims();
      claims.claim(orders);
      const claim = { key: 'shop/billing', folder, isRemoval: false };
      assert.throws(() => claims.claim(claim), { reason: 'PathBlocked', message: /shop\/billing/ });
      assert.throws(() => claims.claim({ ...claim, isRemoval: true }), { reason: 'PathBlocked' });
      claims.claim({ ...orders, isRemoval: true });
      claims.claim(claim);
    });
  }

  test('folders side by side are no matter, nor is the same one again', () => {
    const claims = new FolderClaims();
    claims.claim(orders);
    claims.claim(orders);
    claims.claim({ key: 'shop/orders-2', folder: 'clusters/prod/shop/orders-2', isRemoval: false });
    claims.claim({ key: 'shop/ghost', folder: 'clusters/prod/shop/ghost', isRemoval: true });
  });
});
