import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { truncateUtf8 } from '../../../controller/runtime/truncate-utf8.ts';

test('a text that fits stays as it is, to the byte', () => {
  assert.equal(truncateUtf8('größe', 7), 'größe');
});

test('a text that does not fit ends with … between two characters', () => {
  assert.equal(truncateUtf8('größe', 6), 'gr…');
  assert.equal(truncateUtf8('ab😀cd', 7), 'ab…');
});

test('whatever the text and the limit: never too long, never half a character, always a beginning of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 3, max: 60 }), (text, max) => {
      const cut = truncateUtf8(text, max);
      assert.ok(Buffer.byteLength(cut) <= max);
      assert.ok(cut === text || text.startsWith(cut.slice(0, -1)));
    }),
  );
});
