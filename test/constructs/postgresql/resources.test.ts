import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { maxWalSize, sharedBuffers, sharedMemory, walKeepSize } from '../../../constructs/postgresql/memory.ts';
import { memoryLimit, settleResources, type SettledResources } from '../../../constructs/postgresql/resources.ts';

type Given = DatabaseServiceSpec['resources'];

const cases: readonly [title: string, given: Given, settled: SettledResources][] = [
  [
    'nothing: 250m and 512Mi, memory bounded, CPU not',
    undefined,
    { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '512Mi' } },
  ],
  [
    'empty maps',
    { requests: {}, limits: {} },
    { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '512Mi' } },
  ],
  [
    'a request of memory is its limit',
    { requests: { memory: '2Gi' } },
    { requests: { cpu: '250m', memory: '2Gi' }, limits: { memory: '2Gi' } },
  ],
  [
    'a limit of memory is its request',
    { limits: { memory: '256Mi' } },
    { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '256Mi' } },
  ],
  [
    'both are as they are',
    { requests: { cpu: 1, memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
    { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
  ],
  [
    'a small limit of CPU is its request',
    { limits: { cpu: '100m' } },
    { requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: '100m', memory: '512Mi' } },
  ],
  [
    'a large limit of CPU is not its request',
    { limits: { cpu: '4' } },
    { requests: { cpu: '250m', memory: '512Mi' }, limits: { cpu: '4', memory: '512Mi' } },
  ],
  [
    'numbers of bytes',
    { requests: { memory: 1073741824 } },
    { requests: { cpu: '250m', memory: '1073741824' }, limits: { memory: '1073741824' } },
  ],
];

for (const [title, given, settled] of cases) {
  test(`resources: ${title}`, () => {
    assert.deepEqual(settleResources(given), settled);
  });
}

const memory: readonly [limit: string, sharedBuffers: string, sharedMemory: string][] = [
  ['64Mi', '16MB', '64Mi'],
  ['512Mi', '128MB', '256Mi'],
  ['1Gi', '256MB', '512Mi'],
  ['1500M', '357MB', '715Mi'],
  ['64Gi', '16384MB', '32768Mi'],
];
for (const [limit, buffers, shared] of memory) {
  test(`memory of ${limit}: shared_buffers ${buffers}, /dev/shm ${shared}`, () => {
    const bytes = memoryLimit(settleResources({ limits: { memory: limit } }));
    assert.deepEqual([sharedBuffers(bytes), sharedMemory(bytes)], [buffers, shared]);
  });
}

test('WAL stays small on a small volume', () => {
  const gibibyte = 1024 ** 3;
  assert.equal(maxWalSize(gibibyte / 4), '96MB');
  assert.equal(maxWalSize(gibibyte), '128MB');
  assert.equal(maxWalSize(100 * gibibyte), '1024MB');
  assert.equal(walKeepSize(gibibyte / 2), '32MB');
  assert.equal(walKeepSize(100 * gibibyte), '128MB');
});
