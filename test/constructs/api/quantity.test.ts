import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Quantity } from '../../../constructs/api/quantity.ts';

const nano = 10n ** 9n;

describe('a quantity is read as Kubernetes reads it', () => {
  const cases: readonly [text: string, nanos: bigint][] = [
    ['0', 0n],
    ['1', nano],
    ['1n', 1n],
    ['1u', 1_000n],
    ['250m', 250_000_000n],
    ['1k', 1_000n * nano],
    ['1M', 10n ** 6n * nano],
    ['1E', 10n ** 18n * nano],
    ['1Ki', 1024n * nano],
    ['1.5Gi', 1_610_612_736n * nano],
    ['.5Mi', 524_288n * nano],
    ['10.', 10n * nano],
    ['+1', nano],
    ['-1.5', -1_500_000_000n],
    ['1e3', 1_000n * nano],
    ['1E-3', 1_000_000n],
    ['1.5e+3', 1_500n * nano],
    ['007', 7n * nano],
    // Rounded up: who asks for something gets something.
    ['0.1n', 1n],
    ['1e-99', 1n],
    // Binary quantities end at the greatest int64, decimal ones don't.
    ['8Ei', (2n ** 63n - 1n) * nano],
    ['16Ei', (2n ** 63n - 1n) * nano],
    ['10E', 10n ** 19n * nano],
  ];
  for (const [text, nanos] of cases) test(text, () => assert.equal(Quantity.parse(text)?.nano, nanos));
});

describe('what is no quantity', () => {
  for (const text of [
    '',
    '.',
    '-',
    'Gi',
    '10GB',
    '10gb',
    '10 Gi',
    ' 10',
    '1,5',
    '1e',
    '1.2.3',
    '0x10',
    '١',
    '10Gi\n',
    '1e99999999',
  ])
    test(JSON.stringify(text), () => assert.equal(Quantity.parse(text), undefined));
});

test('one amount in two spellings is equal, whatever its size', () => {
  for (const [a, b] of [
    ['0.1', '100m'],
    ['1Gi', '1024Mi'],
    ['1Ti', '1099511627776'],
    ['1e3', '1k'],
  ] as const)
    assert.equal(Quantity.parse(a)?.compareTo(Quantity.parse(b) ?? new Quantity(-1n)), 0, `${a} ${b}`);
});
