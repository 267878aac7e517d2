import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesOf } from '../../../constructs/review/changes.ts';
import { fileName, render } from '../../../constructs/render.ts';
import { summaryOf } from '../../../constructs/review/summary.ts';
import { serialize } from '../../../constructs/serialize.ts';
import type { DatabaseServiceDocument } from '../../../constructs/api/resource.ts';

type Spec = DatabaseServiceDocument['spec'];

const base: Spec = { engine: 'postgresql', version: '17', replicas: 2, storage: { size: '10Gi' } };

/** The files of databases by name, all in one namespace. */
function files(databases: Readonly<Record<string, Partial<Spec>>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(databases).flatMap(([name, spec]) =>
      render({
        apiVersion: 'plumbline.dev/v1alpha1',
        kind: 'DatabaseService',
        metadata: { name, namespace: 'shop' },
        spec: { ...base, ...spec },
      }).map((manifest) => [`databases/shop/${name}/${fileName(manifest)}`, serialize(manifest)] as const),
    ),
  );
}

const summary = (was: Parameters<typeof files>[0], now: Parameters<typeof files>[0]): string =>
  summaryOf({ before: files(was), after: files(now) });

describe('the summary of a change', () => {
  test('names fields with both values, and nothing else', () => {
    assert.equal(
      summary({ orders: {} }, { orders: { replicas: 3 } }),
      '### shop/orders changes\n\n- StatefulSet orders: `spec.replicas` from `2` to `3`\n',
    );
  });

  test('looks into the configuration of Patroni', () => {
    const text = summary({ orders: {} }, { orders: { parameters: { work_mem: '8MB' } } });
    assert.match(text, /^- ConfigMap orders-patroni-config: `.*parameters\.work_mem` is new: `"8MB"`$/m);
    assert.doesNotMatch(text, /members are made again/);
  });

  test('says when members are made again, and how', () => {
    const image = { image: 'registry.example/pg:17' };
    const managed = summary({ orders: {} }, { orders: image });
    assert.match(
      managed,
      /`spec\.template\.spec\.containers\[postgres\]\.image` from `".*"` to `"registry\.example\/pg:17"`/,
    );
    assert.match(managed, /\*\*its members are made again\*\*, replicas first/);
    assert.doesNotMatch(managed, /plumbline\.dev\/template/);
    const upgrade = { rollout: 'StatefulSet' } as const;
    assert.match(summary({ orders: { upgrade } }, { orders: { upgrade, ...image } }), /made again\*\* by Kubernetes/);
  });

  test('tells databases that come, go and stay as they are', () => {
    const text = summary({ orders: {}, old: {}, same: {} }, { orders: {}, fresh: {}, same: {} });
    assert.match(text, /^### shop\/fresh is new: 11 objects$/m);
    assert.match(text, /^### shop\/old is removed, with its 11 objects$/m);
    assert.doesNotMatch(text, /same|orders/);
  });

  test('tells objects that come and go', () => {
    const backup = { schedule: '30 2 * * *', volume: { size: '1Gi' } } as const;
    assert.match(summary({ orders: {} }, { orders: { backup } }), /^- CronJob orders-backup is new$/m);
    assert.match(summary({ orders: { backup } }, { orders: {} }), /^- CronJob orders-backup is removed$/m);
  });

  test('says that nothing changes', () => {
    assert.equal(summary({ orders: {} }, { orders: {} }), 'Nothing that is rendered changes.\n');
  });
});

describe('changes of a manifest', () => {
  const rows: readonly (readonly [what: string, was: unknown, now: unknown, changes: readonly string[]])[] = [
    ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b 1 2']],
    ['a key with other characters', { a: { 'x/y': 1 } }, { a: { 'x/y': 2 } }, ['a[x/y] 1 2']],
    ['a named item that moved', { l: [{ name: 'a' }, { name: 'b' }] }, { l: [{ name: 'b' }, { name: 'a' }] }, []],
    [
      'a named item that came',
      { l: [{ name: 'a' }] },
      { l: [{ name: 'a' }, { name: 'b' }] },
      ['l[b] undefined {"name":"b"}'],
    ],
    ['an item without a name', { l: [1, 2] }, { l: [1, 3] }, ['l[1] 2 3']],
    [
      'two items of one name',
      {
        l: [
          { name: 'a', p: 1 },
          { name: 'a', p: 2 },
        ],
      },
      {
        l: [
          { name: 'a', p: 1 },
          { name: 'a', p: 3 },
        ],
      },
      ['l[1].p 2 3'],
    ],
    ['text that is JSON', { t: '{"a":1}' }, { t: '{"a":2}' }, ['t.a 1 2']],
    ['text that begins like JSON', { t: '{a' }, { t: '{b' }, ['t "{a" "{b"']],
    ['a list for a map', { a: [] }, { a: {} }, ['a [] {}']],
  ];
  for (const [what, was, now, changes] of rows) {
    test(what, () => {
      assert.deepEqual(
        changesOf(was, now).map((one) => `${one.path} ${one.was} ${one.now}`),
        changes,
      );
    });
  }
});
