import assert from 'node:assert/strict';
import test from 'node:test';
import { editorOf } from '../../../controller/drift/editor.ts';
import type { ManagedFieldsEntry } from '../../../controller/kube/index.ts';
import { applied, entryOf, ours, treeOf } from './live.ts';

const path = ['f:spec', 'f:replicas'];
const tree = treeOf(path);
const noon = '2026-01-01T12:00:00Z';
const evening = '2026-01-01T18:00:00Z';

interface Row {
  readonly what: string;
  readonly entries: readonly ManagedFieldsEntry[];
  readonly manager: string;
  readonly operation: string;
  readonly time: string | undefined;
}

const rows: readonly Row[] = [
  {
    what: 'the manager that holds the field is the editor',
    entries: [entryOf('kubectl-edit', 'Update', tree, noon)],
    manager: 'kubectl-edit',
    operation: 'Update',
    time: noon,
  },
  {
    what: 'of several the last one is',
    entries: [entryOf('helm', 'Update', tree, noon), entryOf('argocd-controller', 'Apply', tree, evening)],
    manager: 'argocd-controller',
    operation: 'Apply',
    time: evening,
  },
  {
    what: 'a write through a subresource says so',
    entries: [entryOf('kubectl-scale', 'Update', tree, noon, 'scale')],
    manager: 'kubectl-scale',
    operation: 'Update of scale',
    time: noon,
  },
  {
    what: 'who holds another field is not the editor',
    entries: [entryOf('kubectl-label', 'Update', treeOf(['f:metadata', 'f:labels', 'f:a']), evening)],
    manager: 'unknown',
    operation: 'Update',
    time: undefined,
  },
  {
    what: 'an update under our own name was not our apply',
    entries: [entryOf(ours, 'Update', tree, noon)],
    manager: ours,
    operation: 'Update',
    time: noon,
  },
];

for (const { what, entries, manager, operation, time } of rows) {
  test(what, () => assert.deepEqual(editorOf(applied(undefined, entries), path, ours), { manager, operation, time }));
}
