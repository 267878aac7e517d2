import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Store } from '../../../controller/runtime/store.ts';

interface Child {
  readonly name: string;
  readonly owners: readonly string[];
}

function child(name: string, ...owners: string[]): Child {
  return { name, owners };
}

describe('the store', () => {
  test('a child is found by its own key and by its database', () => {
    const store = new Store<Child>((value) => value.owners);
    const service = child('svc', 'shop/orders');
    store.set('Service/svc', service);
    store.set('Secret/s', child('s', 'shop/orders'));
    store.set('Secret/other', child('other', 'shop/billing'));
    assert.equal(store.get('Service/svc'), service);
    assert.deepEqual(
      store.byIndex('shop/orders').map((value) => value.name),
      ['svc', 's'],
    );
    assert.equal(store.size, 3);
  });

  test('a child that changes hands is found under its new database only', () => {
    const store = new Store<Child>((value) => value.owners);
    const before = child('svc', 'shop/orders', 'shop/legacy');
    store.set('svc', before);
    assert.equal(store.set('svc', child('svc', 'shop/billing')), before);
    assert.deepEqual(store.byIndex('shop/orders'), []);
    assert.deepEqual(store.byIndex('shop/legacy'), []);
    assert.equal(store.byIndex('shop/billing').length, 1);
  });

  test('what is deleted is found nowhere, and deleting it again is harmless', () => {
    const store = new Store<Child>((value) => value.owners);
    const service = child('svc', 'shop/orders');
    store.set('svc', service);
    assert.equal(store.delete('svc'), service);
    assert.equal(store.delete('svc'), undefined);
    assert.equal(store.get('svc'), undefined);
    assert.deepEqual(store.byIndex('shop/orders'), []);
    assert.equal(store.size, 0);
  });

  test('the index always says what a search through all values would', () => {
    const owners = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 });
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), owners: fc.option(owners) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const store = new Store<Child>((value) => value.owners);
        const plain = new Map<string, Child>();
        for (const { key, owners } of steps) {
          if (owners === null) {
            assert.equal(store.delete(key), plain.get(key));
            plain.delete(key);
          } else {
            const value = child(key, ...owners);
            store.set(key, value);
            plain.set(key, value);
          }
        }
        for (const owner of ['x', 'y', 'z']) {
          const expected = [...plain.values()].filter((value) => value.owners.includes(owner));
          assert.deepEqual(new Set(store.byIndex(owner)), new Set(expected));
        }
        assert.deepEqual([...store.keys()].sort(), [...plain.keys()].sort());
      }),
    );
  });

  test('ten thousand databases of eight children ask for the index keys once per change, not per look', () => {
    // GIVEN
    let calls = 0;
    const store = new Store<Child>((value) => {
      calls++;
      return value.owners;
    });
    for (let i = 0; i < 80_000; i++) store.set(`key-${i}`, child(`key-${i}`, `owner-${i >> 3}`));
    // WHEN
    let found = 0;
    for (let i = 0; i < 10_000; i++) found += store.byIndex(`owner-${i}`).length;
    // THEN
    assert.equal(found, 80_000);
    assert.equal(calls, 80_000);
  });
});
