import { test } from 'node:test';
import type { DatabaseServiceSpec, Peer, StoredSpec } from '../../../constructs/api/spec.ts';

/* Checked by the compiler: each line below an `@ts-expect-error` must not compile. */

const spec: DatabaseServiceSpec = { engine: 'postgresql', version: '17', storage: { size: '10Gi' } };

test('a TypeScript user cannot write what the API server would refuse by its type', () => {
  void ({
    ...spec,
    parameters: { max_connections: '200' },
    replicas: 3,
    durability: 'Sync',
  } satisfies DatabaseServiceSpec);
  void ({ ...spec, storage: { size: 10737418240 } } satisfies DatabaseServiceSpec);
  // @ts-expect-error settings are text
  void ({ ...spec, parameters: { max_connections: 200 } } satisfies DatabaseServiceSpec);
  // @ts-expect-error settings are text
  void ({ ...spec, parameters: { jit: false } } satisfies DatabaseServiceSpec);
  // @ts-expect-error a version is text
  void ({ ...spec, version: 17 } satisfies DatabaseServiceSpec);
  // @ts-expect-error one of three words
  void ({ ...spec, durability: 'sync' } satisfies DatabaseServiceSpec);
  // @ts-expect-error no such field
  void ({ ...spec, replica: 3 } satisfies DatabaseServiceSpec);
  // @ts-expect-error a boolean
  void ({ ...spec, delivery: { apply: 'no' } } satisfies DatabaseServiceSpec);
  // @ts-expect-error size is required
  void ({ ...spec, storage: {} } satisfies DatabaseServiceSpec);
  // @ts-expect-error a volume is required
  void ({ ...spec, backup: { schedule: '@daily' } } satisfies DatabaseServiceSpec);
});

test('a spec cannot be written to, however deep', () => {
  // @ts-expect-error readonly
  void ((given: DatabaseServiceSpec) => (given.version = '18'));
  // @ts-expect-error readonly
  void ((given: DatabaseServiceSpec) => (given.storage.size = '1Gi'));
  // @ts-expect-error readonly
  void ((given: DatabaseServiceSpec) => given.access?.from.push({}));
});

test('a stored spec always has replicas, a written one may leave them out', () => {
  void ((stored: StoredSpec): number => stored.replicas);
  // @ts-expect-error perhaps absent
  void ((written: DatabaseServiceSpec): number => written.replicas);
  void ({ podSelector: { matchLabels: { app: 'shop' } } } satisfies Peer);
});
