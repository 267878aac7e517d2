import assert from 'node:assert/strict';
import test from 'node:test';
import type { StatusCondition } from '../../../constructs/api/status.ts';
import { committed, merged, synced, type GitFacts } from '../../../controller/database/git-chain.ts';
import type { Drift } from '../../../controller/drift/index.ts';
import { noon } from './given.ts';

const path = 'clusters/prod/shop/orders';
const pushed: GitFacts = {
  git: { commit: 'abc123', path },
  commit: 'abc123',
  hold: undefined,
  behind: [],
  left: [],
  generation: 2,
};
const edit: Drift = {
  object: 'Service/orders',
  field: 'spec.x',
  was: 'a',
  now: 'b',
  editor: { manager: 'kubectl-edit', operation: 'Update', time: noon },
};
const inGit: Drift = {
  object: `File/${path}/service.orders.yaml`,
  field: 'spec.x',
  was: 'a',
  now: 'b',
  editor: { manager: 'Jane <jane@example.org>', operation: 'Commit def456', time: noon },
};
const edited = { ...pushed.git, edits: [inGit] };
const pending = { ...pushed.git, isPending: true } as const;
const failed = { ...pending, failure: 'The Git repository is away.' } as const;
const before = {
  type: 'Committed',
  status: 'True',
  reason: 'Pushed',
  message: 'as before',
  lastTransitionTime: noon,
  observedGeneration: 2,
} as const satisfies StatusCondition;

const review = { kind: 'open', branch: 'plumbline/prod', target: 'main' } as const;
const inReview = { ...pushed.git, review } as const;
const isMerged = { ...inReview, review: { ...review, kind: 'merged' } } as const;
const isDeclined = { ...inReview, review: { ...review, kind: 'declined' } } as const;
const obstacle = 'It conflicts with main in README.md.';
const decline =
  'The branch plumbline/prod was deleted, and main does not have what was on it. Change the spec, or restore the branch; it is not written again before.';

const said = (verdict: ReturnType<typeof committed>) =>
  verdict && `${verdict.holds} ${verdict.reason}: ${verdict.message}`;

const rowsOfCommitted: readonly (readonly [
  what: string,
  facts: Partial<GitFacts>,
  before: StatusCondition | undefined,
  is: string | undefined,
])[] = [
  ['nothing is delivered to Git', { git: undefined }, undefined, undefined],
  ['the branch has it', {}, undefined, `true Pushed: Commit abc123 was pushed, the branch has it in ${path}.`],
  [
    'the branch had it before anybody remembers',
    { commit: undefined, git: { path } },
    undefined,
    `true Pushed: The branch has it in ${path}.`,
  ],
  [
    'it is on its way',
    { git: pending },
    undefined,
    'false CommitPending: Generation 2 is on its way to the repository. Commit abc123 was the last.',
  ],
  ['after a restart it is looked at again', { git: pending }, before, 'true Pushed: as before'],
  [
    'so is a newer generation',
    { git: pending, generation: 3 },
    before,
    'false CommitPending: Generation 3 is on its way to the repository. Commit abc123 was the last.',
  ],
  [
    'somebody edited a file, and that is left',
    { git: edited },
    undefined,
    `false EditedInGit: Jane <jane@example.org> (commit def456) changed spec.x of File/${path}/service.orders.yaml from a to b. It is left as long as drift.policy or drift.pause has it so and nothing else is to be written there.`,
  ],
  [
    'an edit is looked for again after a restart, and known until then',
    { git: pending },
    { ...before, status: 'False', reason: 'EditedInGit' },
    'false EditedInGit: as before',
  ],
  ['the repository takes nothing', { git: failed }, before, 'false GitFailed: The Git repository is away.'],
  [
    'the destination is none',
    { git: { ...failed, isUnusable: true } },
    before,
    'false DestinationUnusable: The Git repository is away.',
  ],
  [
    'a template waits',
    { hold: 'The change of the pods waits until orders-1 is back.' },
    undefined,
    `false ChangeHeld: The change of the pods waits until orders-1 is back. It is committed then. Commit abc123 was pushed, the branch has it in ${path}.`,
  ],
  [
    'files of it are where they are not to be any more',
    { remains: 'Its files in GitDestination b remain.' },
    before,
    `false OldFilesRemain: Commit abc123 was pushed, the branch has it in ${path}. Its files in GitDestination b remain.`,
  ],
  [
    'so are those of one that is in Git no more',
    { git: undefined, remains: 'Its files in GitDestination b remain.' },
    before,
    'false OldFilesRemain: Its files in GitDestination b remain.',
  ],
  [
    'the branch for review has it',
    { git: inReview },
    undefined,
    `true Pushed: Commit abc123 was pushed, the branch plumbline/prod has it in ${path}.`,
  ],
  [
    'the branch that it was merged into has it',
    { git: isMerged, commit: undefined },
    undefined,
    `true Pushed: The branch main has it in ${path}.`,
  ],
  ['it was declined', { git: isDeclined }, before, `false ReviewDeclined: ${decline}`],
];
for (const [what, more, old, is] of rowsOfCommitted) {
  test(`Committed: ${what}`, () => assert.equal(said(committed({ ...pushed, ...more }, old)), is));
}

const unmerged = { ...before, type: 'Merged', status: 'False', reason: 'ReviewPending' } as const;
const rowsOfMerged: readonly (readonly [
  what: string,
  facts: Partial<GitFacts>,
  before: typeof unmerged | undefined,
  is: string | undefined,
])[] = [
  ['nothing is reviewed', {}, undefined, undefined],
  ['it is on its way to where nothing is reviewed', { git: pending }, undefined, undefined],
  [
    'people have yet to merge it',
    { git: inReview },
    undefined,
    'false ReviewPending: Commit abc123 waits on the branch plumbline/prod to be merged into main.',
  ],
  [
    'it cannot be merged',
    { git: { ...inReview, review: { ...review, obstacle } } },
    undefined,
    `false ReviewBlocked: Commit abc123 waits on the branch plumbline/prod to be merged into main. ${obstacle}`,
  ],
  ['it is merged', { git: isMerged }, undefined, `true Merged: The branch main has it in ${path}.`],
  ['it was declined', { git: isDeclined }, undefined, `false ReviewDeclined: ${decline}`],
  ['after a restart it is looked at again', { git: pending }, unmerged, 'false ReviewPending: as before'],
  [
    'a newer generation is on its way after one that was merged',
    { git: { ...isMerged, isPending: true }, generation: 3 },
    before as never,
    'false CommitPending: It is not there to be reviewed yet; the condition Committed says why.',
  ],
  [
    'the repository takes nothing',
    { git: { ...failed, review } },
    unmerged,
    'false CommitPending: It is not there to be reviewed yet; the condition Committed says why.',
  ],
];
for (const [what, more, old, is] of rowsOfMerged) {
  test(`Merged: ${what}`, () => assert.equal(said(merged({ ...pushed, ...more }, old)), is));
}

const rowsOfSynced: readonly (readonly [what: string, facts: Partial<GitFacts>, is: string | undefined])[] = [
  ['Plumbline applies', { behind: undefined }, undefined],
  ['the live objects are what Git has', {}, 'true LiveIsCurrent: The live objects are as commit abc123 has them.'],
  [
    'a tool applies what CI has rendered',
    { git: undefined, commit: undefined },
    'true LiveIsCurrent: The live objects are as they are rendered.',
  ],
  [
    'the tool has yet to apply',
    { behind: ['StatefulSet orders', 'Service orders'] },
    'false SyncPending: The GitOps tool has yet to apply StatefulSet orders, Service orders: they are not as commit abc123 has them.',
  ],
  [
    'the tool has yet to apply much',
    { behind: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    'false SyncPending: The GitOps tool has yet to apply a, b, c, d, e and 2 more: they are not as commit abc123 has them.',
  ],
  [
    'it is not even committed',
    { behind: ['StatefulSet orders'], git: pending },
    'false CommitPending: What is to be applied is not in Git yet; the condition Committed says why.',
  ],
  [
    'it is not merged yet',
    { behind: ['StatefulSet orders'], git: inReview },
    'false MergePending: What is to be applied is not in main yet; the condition Merged says why.',
  ],
  [
    'somebody applied what is not merged: the target branch decides',
    { git: inReview },
    'false MergePending: What is to be applied is not in main yet; the condition Merged says why.',
  ],
  ['it was declined', { behind: ['StatefulSet orders'], git: isDeclined }, `false ReviewDeclined: ${decline}`],
  [
    'it is merged and the tool has yet to apply',
    { behind: ['StatefulSet orders'], git: isMerged },
    'false SyncPending: The GitOps tool has yet to apply StatefulSet orders: they are not as commit abc123 has them.',
  ],
  [
    'somebody changed it while it waits',
    { behind: ['Service orders'], left: [edit], git: inReview },
    'false LiveWasChanged: kubectl-edit changed spec.x of Service/orders from a to b.',
  ],
  [
    'what the tool applies was edited in Git',
    { behind: ['Service orders'], git: edited, left: [edit] },
    'false EditedInGit: Somebody edited what is applied in Git; the condition Committed says who, and what.',
  ],
  [
    'somebody changed it',
    { behind: ['Service orders'], left: [edit] },
    'false LiveWasChanged: kubectl-edit changed spec.x of Service/orders from a to b.',
  ],
];
for (const [what, more, is] of rowsOfSynced) {
  test(`Synced: ${what}`, () => assert.equal(said(synced({ ...pushed, ...more })), is));
}
