import assert from 'node:assert/strict';
import test from 'node:test';
import { historyText, parseHistory, stabilised, tried, type History } from '../../../controller/rollout/history.ts';
import { revisionDigest, revisionOf, withRevision } from '../../../controller/rollout/revision.ts';
import type { StoredSpec } from '../../../constructs/api/spec.ts';

const spec: StoredSpec = {
  engine: 'postgresql',
  version: '17',
  replicas: 3,
  storage: { size: '1Gi' },
  parameters: { jit: 'off' },
};
const revision = revisionOf(spec);
const empty: History = { released: revision, stable: [], refused: undefined };

test('the last ten stable revisions are kept, the newest first, with numbers that go on', () => {
  let history = empty;
  for (let i = 1; i <= 12; i++) {
    history = stabilised(history, { ...revision, parameters: { work_mem: `${i}MB` } }, i, 'noon');
  }
  assert.deepEqual(
    history.stable.map(({ number }) => number),
    [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
  );
});

test('a revision that is stable already is noted once; what was refused before it is forgotten', () => {
  const once = stabilised(tried(empty, revision, 'morning', []), revision, 1, 'noon');
  assert.equal(stabilised(once, revision, 2, 'later'), once);
  const refused = { digest: 'd', generation: 1, time: 'noon', reason: 'RolloutFailed', message: 'm' } as const;
  assert.equal(stabilised({ ...once, refused }, revision, 2, 'later').refused, undefined);
});

test('what is stored is read back', () => {
  const history = stabilised(empty, revision, 1, '2026-01-01T12:00:00Z');
  assert.deepEqual(JSON.parse(JSON.stringify(parseHistory(historyText(history)))), JSON.parse(JSON.stringify(history)));
});

test('a trial is read back with the members that were sick before it, and without where nobody had noted them', () => {
  const time = '2026-01-01T12:00:00Z';
  const history = tried(empty, revision, time, ['orders-2']);
  assert.deepEqual(parseHistory(historyText(history))?.trial, history.trial);
  const trial = { digest: 'd', since: time };
  assert.deepEqual(parseHistory(historyText({ ...empty, trial }))?.trial, trial);
});

for (const text of ['', 'null', '[]', '{}', '{"released":{},"stable":[{"number":1}]}', '{"released":[],"stable":[]}']) {
  test(`${text === '' ? 'nothing' : text} is no history`, () => assert.equal(parseHistory(text), undefined));
}

test('a revision is the same in whatever order its fields come', () => {
  const a = revisionOf({ ...spec, resources: { requests: { cpu: '1', memory: '1Gi' } } });
  const b = revisionOf({ resources: { requests: { memory: '1Gi', cpu: '1' } }, ...spec });
  assert.equal(revisionDigest(a), revisionDigest(b));
});

test('a spec with its own revision is the spec, and with another one keeps what is no part of it', () => {
  assert.deepEqual(withRevision(spec, revision), spec);
  const other = withRevision(spec, revisionOf({ ...spec, version: '16', parameters: {}, replicas: 1 }));
  assert.deepEqual(other, { engine: 'postgresql', version: '16', replicas: 3, storage: { size: '1Gi' } });
});
