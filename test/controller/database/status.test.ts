import assert from 'node:assert/strict';
import test from 'node:test';
import type { DatabaseServiceStatus } from '../../../constructs/api/status.ts';
import { wasSettled } from '../../../controller/database/conditions.ts';
import { nothingUntold } from '../../../controller/database/memory.ts';
import { isStatus, nextStatus, strays, type StatusFacts } from '../../../controller/database/status.ts';
import type { Drift } from '../../../controller/drift/index.ts';
import { judgeBackup } from '../../../controller/health/judge-backup.ts';
import { judgeStorage } from '../../../controller/health/judge-storage.ts';
import { judgeTls } from '../../../controller/health/judge-tls.ts';
import { judge, type Seen } from '../../../controller/health/judge.ts';
import { reasons, type Reason } from '../../../controller/health/reasons.ts';
import { podFacts, setFacts } from '../health/given.ts';
import { noon, resource, settledStatus } from './given.ts';

const later = '2026-01-01T13:00:00Z';
const evening = '2026-01-01T18:00:00Z';
const seen: Seen = {
  wanted: 1,
  statefulSet: setFacts(1),
  pods: [],
  before: { phase: undefined, readyReplicas: 0 },
  isSpecNew: false,
  isDeleting: false,
  isApplied: true,
  hindrance: undefined,
};
const running: Seen = {
  ...seen,
  pods: [{ name: 'orders-0', facts: podFacts({ isPrimary: true }) }],
};
const facts: StatusFacts = {
  resource: resource(),
  isValid: true,
  isWhole: true,
  wasWhole: false,
  before: undefined,
  health: judge(seen),
  tls: judgeTls({ secret: 'orders-tls', members: [], now: 0 }).verdict,
  backup: judgeBackup({ backup: undefined, cronJob: undefined, jobs: [], words: undefined, before: undefined, now: 0 }),
  storage: judgeStorage([]),
  replicas: 1,
  untold: nothingUntold,
  left: [],
  added: [],
  contests: [],
  pause: undefined,
  git: undefined,
  chain: { git: undefined, hold: undefined, behind: undefined },
  now: noon,
};
const drift = (field: string, more: Partial<Drift> = {}): Drift => ({
  object: 'Service/orders',
  field,
  was: 'a',
  now: 'b',
  editor: { manager: 'kubectl-edit', operation: 'Update', time: noon },
  ...more,
});
const first = nextStatus(facts);
const conditionOf = (status: DatabaseServiceStatus, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

test('the first status says phase, members, endpoints and the Secret', () => {
  assert.equal(first.phase, 'Provisioning');
  assert.deepEqual([first.ready, first.replicas, first.readyReplicas, first.primary], ['0/1', 1, 0, undefined]);
  assert.deepEqual(first.endpoints, { readWrite: 'orders.shop.svc:5432', readOnly: 'orders-ro.shop.svc:5432' });
  assert.equal(first.credentialsSecret, 'orders-credentials');
  assert.equal(first.selector, 'plumbline.dev/database=orders');
  assert.deepEqual([first.lastReconcileTime, first.observedGeneration, first.drift], [noon, 1, undefined]);
});

test('a Secret of the user is the one that is named', () => {
  const database = resource({ credentials: { source: 'Existing', secretName: 'orders-login' } });
  assert.equal(nextStatus({ ...facts, resource: database }).credentialsSecret, 'orders-login');
});

test('nothing has changed: the status is the one before, its time included', () => {
  const again = nextStatus({ ...facts, before: first, now: later });
  assert.deepEqual(again, first);
  assert(isStatus(again, first));
});

test('with a change the time moves, and of the conditions only the times of those that turned', () => {
  const next = nextStatus({ ...facts, before: first, health: judge(running), now: later });
  assert.equal(next.lastReconcileTime, later);
  assert.equal(conditionOf(next, 'Ready')?.lastTransitionTime, later);
  assert.equal(conditionOf(next, 'Stalled')?.lastTransitionTime, noon);
  assert.equal(isStatus(next, first), false);
});

test('a condition of somebody else is neither taken for ours nor a reason to write', () => {
  const foreign = { type: 'Billed', status: 'True', reason: 'Paid', message: '', lastTransitionTime: noon } as const;
  const before = { ...first, conditions: [...(first.conditions ?? []), foreign] };
  const next = nextStatus({ ...facts, before, now: later });
  assert.deepEqual(next, first);
  assert(isStatus(next, before));
});

const forged: readonly (readonly [
  what: string,
  status: DatabaseServiceStatus | undefined,
  strays: readonly string[],
])[] = [
  ['an emptied status', undefined, []],
  ['another phase', { ...first, phase: 'Running' }, []],
  ['a condition that was turned', { ...first, conditions: (first.conditions ?? []).slice(1) }, []],
  ['a primary that is none', { ...first, primary: 'orders-7' }, ['primary']],
  ['receipts of nothing', { ...first, drift: { corrected: 9 } }, ['drift']],
  ['another time', { ...first, lastReconcileTime: evening }, []],
];
for (const [what, stored, names] of forged) {
  test(`${what} in the status is seen, and what we wrote is what goes on`, () => {
    const next = nextStatus({ ...facts, before: first, now: later });
    assert.deepEqual(next, first);
    assert.equal(isStatus(next, stored), false);
    assert.deepEqual(strays(next, stored), names);
  });
}

test('a correction is a receipt and counts', () => {
  const next = nextStatus({
    ...facts,
    before: first,
    untold: { corrected: [drift('spec.x')], reported: [] },
    now: later,
  });
  assert.deepEqual(next.drift, {
    corrected: 1,
    receipts: [
      {
        time: noon,
        object: 'Service/orders',
        field: 'spec.x',
        was: 'a',
        now: 'b',
        manager: 'kubectl-edit',
        operation: 'Update',
        action: 'Corrected',
      },
    ],
  });
});

test('the last ten receipts are kept, the newest first; the count goes on', () => {
  let status = first;
  for (let n = 0; n < 12; n++) {
    const untold = { corrected: [drift(`spec.f${n}`)], reported: [] };
    status = nextStatus({ ...facts, before: status, untold, now: later });
  }
  assert.equal(status.drift?.corrected, 12);
  const fields = status.drift?.receipts?.map(({ field }) => field);
  assert.deepEqual(
    fields,
    Array.from({ length: 10 }, (_, n) => `spec.f${11 - n}`),
  );
});

test('one edit of many fields does not push all other receipts out', () => {
  const many = Array.from({ length: 30 }, (_, n) => drift(`spec.f${n}`));
  const before = nextStatus({ ...facts, before: first, untold: { corrected: [drift('spec.old')], reported: [] } });
  const { receipts = [], corrected } =
    nextStatus({ ...facts, before, untold: { corrected: many, reported: [] } }).drift ?? {};
  assert.equal(corrected, 31);
  assert.deepEqual(
    receipts.map(({ field }) => field),
    ['spec.f0', 'spec.f1', 'spec.f2', 'spec.f3 and 26 more fields', 'spec.old'],
  );
});

test('a removal has the time at which it was seen, for nothing else is known', () => {
  const removal = drift('spec.x', {
    now: undefined,
    editor: { manager: 'unknown', operation: 'Remove', time: undefined },
  });
  const [receipt] = nextStatus({ ...facts, untold: { corrected: [removal], reported: [] } }).drift?.receipts ?? [];
  assert.deepEqual([receipt?.time, receipt?.manager, receipt?.now], [noon, 'unknown', undefined]);
});

test('what is left alone is Drifted until it is true again', () => {
  const left = nextStatus({ ...facts, left: [drift('spec.x')] });
  const condition = conditionOf(left, 'Drifted');
  assert.deepEqual([condition?.status, condition?.reason], ['True', 'DriftReported']);
  assert.equal(condition?.message, 'kubectl-edit changed spec.x of Service/orders from a to b.');
  assert.equal(conditionOf(nextStatus({ ...facts, before: left }), 'Drifted')?.status, 'False');
});

test('what a GitOps tool applies is not called true by us', () => {
  const database = resource({ delivery: { apply: false } });
  assert.equal(conditionOf(nextStatus({ ...facts, resource: database }), 'Drifted')?.reason, 'NotApplied');
});

test('of a spec that breaks every rule there is a status all the same', () => {
  const broken = { ...resource(), spec: undefined } as unknown as StatusFacts['resource'];
  const next = nextStatus({ ...facts, resource: broken, isValid: false });
  assert.deepEqual([next.ready, next.endpoints, next.credentialsSecret], ['0/1', undefined, undefined]);
});

test('a generation was applied whole when Drifted says so of this very generation', () => {
  assert(wasSettled(resource({}, {}, settledStatus)));
  assert(!wasSettled(resource()));
  assert(!wasSettled(resource({}, { generation: 2 }, settledStatus)));
  const [condition] = settledStatus.conditions ?? [];
  assert(condition);
  const hindered = { ...settledStatus, conditions: [{ ...condition, reason: 'NotAllApplied' }] };
  assert(!wasSettled(resource({}, {}, hindered)));
});

test('whatever hinders the members: what was applied whole is known to be so, and what was not is not', () => {
  for (const reason of Object.keys(reasons) as Reason[]) {
    for (const isStalled of [true, false]) {
      const health = judge({ ...seen, hindrance: { reason, message: 'It stands still.', isStalled } });
      const statusOf = (isWhole: boolean, wasWhole = isWhole) => nextStatus({ ...facts, health, isWhole, wasWhole });
      assert(wasSettled(resource({}, {}, statusOf(true))), reason);
      assert(wasSettled(resource({}, {}, statusOf(false, true))), reason);
      assert(!wasSettled(resource({}, {}, statusOf(false))), reason);
    }
  }
});

test('where something could not be applied not every field is called true, and what is left alone is told all the same', () => {
  const halfway = nextStatus({ ...facts, isWhole: false });
  assert.deepEqual(
    [conditionOf(halfway, 'Drifted')?.status, conditionOf(halfway, 'Drifted')?.reason],
    ['False', 'NotAllApplied'],
  );
  const drifted = conditionOf(nextStatus({ ...facts, isWhole: false, left: [drift('spec.x')] }), 'Drifted');
  assert.equal(drifted?.status, 'True');
  assert.match(drifted?.message ?? '', /^kubectl-edit changed spec\.x .* Not everything that is stated/);
});

test('what was whole and could not be put back is told as that, however long the list is', () => {
  const many = Array.from({ length: 40 }, (_, n) => drift(`spec.${'x'.repeat(60)}`, { object: `Service/orders-${n}` }));
  for (const left of [[drift('spec.x')], many]) {
    const drifted = conditionOf(nextStatus({ ...facts, isWhole: false, wasWhole: true, left }), 'Drifted');
    assert.deepEqual([drifted?.status, drifted?.reason], ['True', 'NotAllPutBack']);
    assert.match(drifted?.message ?? '', /^kubectl-edit changed spec\.x.* Not everything could be put back\.$/);
    assert((drifted?.message.length ?? 0) <= 2_000);
  }
});
