import assert from 'node:assert/strict';
import test from 'node:test';
import { noteEdits } from '../../../controller/database/git-edits.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import { withReceipts } from '../../../controller/database/receipts.ts';
import type { Drift } from '../../../controller/drift/index.ts';
import { noon, resource } from './given.ts';

const path = 'clusters/prod/shop/orders';
const edit: Drift = {
  object: `File/${path}/statefulset.orders.yaml`,
  field: 'spec.replicas',
  was: '3',
  now: '5',
  editor: { manager: 'Jane <jane@example.org>', operation: 'Commit abc', time: noon },
};
const left = { path, edits: [edit] };

test('an edit in Git that is left is told once, and again after it was taken back', () => {
  const memory = newMemory('uid');
  const told = () => noteEdits(memory, left, resource({})).reported;
  assert.deepEqual(told(), [edit]);
  assert.deepEqual(told(), []);
  assert.deepEqual(memory.untold.reported, [edit]);
  noteEdits(memory, { ...left, isPending: true }, resource({}));
  assert.deepEqual(told(), []);
  noteEdits(memory, { path }, resource({}));
  assert.deepEqual(told(), [edit]);
});

test('after a restart the receipts know what was told', () => {
  const drift = withReceipts({ corrected: [], reported: [edit] }, undefined, noon);
  const known = { ...resource({}), status: { ...(drift && { drift }) } };
  assert.deepEqual(noteEdits(newMemory('uid'), left, known).reported, []);
  const another = { ...edit, editor: { ...edit.editor, time: '2026-01-01T13:00:00Z' } };
  assert.deepEqual(noteEdits(newMemory('uid'), { path, edits: [another] }, known).reported, [another]);
});

test('an edit that a commit has undone is told once, whatever else is delivered meanwhile', () => {
  const memory = newMemory('uid');
  const undone = { path, commit: 'def', restored: { commit: 'def', edits: [edit] } };
  assert.deepEqual(noteEdits(memory, undone, resource({})).corrected, [edit]);
  assert.deepEqual(noteEdits(memory, { ...undone, isPending: true }, resource({})).corrected, []);
  assert.deepEqual(noteEdits(memory, undone, resource({})).corrected, []);
  const again = { ...undone, restored: { commit: 'fed', edits: [edit] } };
  assert.deepEqual(noteEdits(memory, again, resource({})).corrected, [edit]);
});
