import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJsonLines, JsonLines, MalformedLineError } from '../../../controller/kube/index.ts';

const EVENT = {
  type: 'MODIFIED',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'orders', annotations: { note: 'Größe 中 😀' } } },
};

function decode(...chunks: readonly Uint8Array[]): unknown[] {
  const lines = new JsonLines();
  const documents = chunks.flatMap((chunk) => [...lines.push(chunk)]);
  return [...documents, ...lines.end()];
}

test('an event split at any byte arrives whole (LinusU/node-jsonlines#7)', () => {
  const bytes = Buffer.from(`${JSON.stringify(EVENT)}\n`);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(decode(bytes.subarray(0, at), bytes.subarray(at)), [EVENT], `split at ${at}`);
  }
});

test('an event that comes byte by byte arrives whole', () => {
  const bytes = Buffer.from(`${JSON.stringify(EVENT)}\n`);
  assert.deepEqual(decode(...Array.from(bytes, (byte) => Uint8Array.of(byte))), [EVENT]);
});

test('documents are taken from one chunk or many, and empty lines are skipped', () => {
  const rows: readonly (readonly [readonly string[], readonly unknown[]])[] = [
    [['{"a":1}\n{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    [['\n\n{"a":1}\n\n'], [{ a: 1 }]],
    [
      ['{"a"', ':1}', '\n{"a":2}\n'],
      [{ a: 1 }, { a: 2 }],
    ],
    [['{"a":1}'], [{ a: 1 }]],
    [['', '{"a":1}\n', ''], [{ a: 1 }]],
    [[], []],
  ];
  for (const [chunks, expected] of rows)
    assert.deepEqual(decode(...chunks.map((chunk) => Buffer.from(chunk))), expected);
});

test('an event of 3 MB is joined once and takes less than 100 ms of the processor at a time', () => {
  const event = { type: 'ADDED', object: { data: { big: 'ä'.repeat(1_500_000) } } };
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
  const lines = new JsonLines();
  let longestMs = 0;
  const documents: unknown[] = [];
  for (let at = 0; at < bytes.length; at += 1024) {
    // Of this thread: the clock goes on while others have the processor.
    const before = process.threadCpuUsage();
    documents.push(...lines.push(bytes.subarray(at, at + 1024)));
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1000);
  }
  assert.deepEqual(documents, [event]);
  assert.ok(longestMs < 100, `${longestMs} ms`);
});

test('a broken line is an error that says where, after the documents before it and without its content', () => {
  const rows: readonly (readonly [string, Buffer])[] = [
    ['not JSON', Buffer.from('{"a":1}\n{"password":"hunter2\n')],
    [
      'not UTF-8',
      Buffer.concat([Buffer.from('{"a":1}\n{"password":"hunter2'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    ],
    ['cut off', Buffer.from('{"a":1}\n{"password":"hunter2"')],
  ];
  for (const [what, bytes] of rows) {
    const lines = new JsonLines();
    const documents: unknown[] = [];
    assert.throws(
      () => {
        for (const document of lines.push(bytes)) documents.push(document);
        for (const document of lines.end()) documents.push(document);
      },
      (error) => {
        assert.ok(error instanceof MalformedLineError, what);
        assert.equal(error.documentsBefore, 1, what);
        assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /hunter2/, what);
        return true;
      },
    );
    assert.deepEqual(documents, [{ a: 1 }], what);
  }
});

test('a stream is decoded as it comes', async () => {
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"a":1}\n{"a"');
    yield Buffer.from(':2}\n');
  }
  const documents: unknown[] = [];
  for await (const document of decodeJsonLines(stream())) documents.push(document);
  assert.deepEqual(documents, [{ a: 1 }, { a: 2 }]);
});
