import assert from 'node:assert/strict';
import test from 'node:test';
import { nothingDone, type Outcome } from '../../../controller/database/delivery.ts';
import { newMemory, type Untold } from '../../../controller/database/memory.ts';
import { remember } from '../../../controller/database/remember.ts';
import { nextStatus } from '../../../controller/database/status.ts';
import type { Drift } from '../../../controller/drift/index.ts';
import { judgeBackup } from '../../../controller/health/judge-backup.ts';
import { judgeStorage } from '../../../controller/health/judge-storage.ts';
import { judgeTls } from '../../../controller/health/judge-tls.ts';
import { judge } from '../../../controller/health/judge.ts';
import { nameTaken } from '../../../controller/database/blocker.ts';
import { noon, resource, statedOf } from './given.ts';

const report = resource({ drift: { policy: 'Report' } });
const key = 'Service/shop/orders';
/** Nothing was made from the template as it is. */
const nobody = { isManaged: true, made: [] };
const edit = (time: string): Drift => ({
  object: 'Service/orders',
  field: 'spec.selector',
  was: 'a',
  now: 'b',
  editor: { manager: 'kubectl-edit', operation: 'Update', time },
});
const removal: Drift = {
  object: 'Service/orders',
  field: '',
  was: undefined,
  now: undefined,
  editor: { manager: 'unknown', operation: 'Delete', time: undefined },
};
const leaving = (...drifts: readonly Drift[]): Outcome => ({ ...nothingDone, left: new Map([[key, drifts]]) });
const making = (...made: readonly string[]): Outcome => ({ ...nothingDone, made });

/** The database after a restart of the controller: its status has the receipts. */
function restarted(...drifts: readonly Drift[]) {
  return resource({ drift: { policy: 'Report' } }, {}, statusOf({ corrected: [], reported: drifts }));
}

function statusOf(untold: Untold) {
  const health = judge({
    wanted: 1,
    statefulSet: undefined,
    pods: [],
    before: { phase: undefined, readyReplicas: 0 },
    isSpecNew: false,
    isDeleting: false,
    isApplied: true,
    hindrance: undefined,
  });
  return nextStatus({
    resource: report,
    isValid: true,
    isWhole: true,
    wasWhole: true,
    before: undefined,
    health,
    tls: judgeTls({ secret: undefined, members: [], now: 0 }).verdict,
    storage: judgeStorage([]),
    backup: judgeBackup({
      backup: undefined,
      cronJob: undefined,
      jobs: [],
      words: undefined,
      before: undefined,
      now: 0,
    }),
    replicas: 1,
    untold,
    left: [],
    added: [],
    contests: [],
    pause: undefined,
    git: undefined,
    chain: { git: undefined, hold: undefined, behind: undefined },
    now: noon,
  });
}

test('what is left alone is told once', () => {
  const memory = newMemory('u');
  assert.deepEqual(remember(memory, leaving(edit(noon)), report, nobody), [edit(noon)]);
  assert.deepEqual(remember(memory, leaving(edit(noon)), report, nobody), []);
  assert.deepEqual(memory.untold.reported, [edit(noon)]);
});

test('a second edit of the same field is told as another', () => {
  const memory = newMemory('u');
  remember(memory, leaving(edit(noon)), report, nobody);
  const again = edit('2026-01-01T13:00:00Z');
  assert.deepEqual(remember(memory, leaving(again), report, nobody), [again]);
});

test('a restart of the controller tells nothing a second time', () => {
  assert.deepEqual(remember(newMemory('u'), leaving(edit(noon)), restarted(edit(noon)), nobody), []);
  assert.deepEqual(remember(newMemory('u'), leaving(removal), restarted(removal), nobody), []);
});

test('the same deletion, after it was made good, is a new one', () => {
  const memory = newMemory('u');
  const database = restarted(removal);
  remember(memory, leaving(removal), database, nobody);
  remember(memory, making(key), database, nobody);
  assert.deepEqual(remember(memory, leaving(removal), database, nobody), [removal]);
});

test('a plan that was carried out whole settles its generation; what is made or left is known', () => {
  const memory = newMemory('u');
  remember(memory, { ...leaving(edit(noon)), made: ['Role/shop/orders'] }, report, nobody);
  assert.equal(memory.settledGeneration, 1);
  assert.deepEqual([...memory.known].sort(), ['Role/shop/orders', key]);
});

test('a plan that was cut short settles nothing and forgets nothing', () => {
  const memory = newMemory('u');
  remember(memory, leaving(edit(noon)), report, nobody);
  const blocker = nameTaken(statedOf(report, 'Service/orders-ro'), 'somebody', false);
  remember(memory, { ...making('Role/shop/orders'), blocker }, report, nobody);
  assert.equal(memory.settledGeneration, undefined);
  assert.deepEqual([...memory.known].sort(), ['Role/shop/orders', key]);
  assert.deepEqual([...memory.left.keys()], [key]);
  remember(memory, { ...making(key), outdated: new Error('newer') }, report, nobody);
  assert.deepEqual([...memory.left.keys()], [], 'what was made true is not left any more');
});

test('what could not be put back is said in the same order after a restart, and that all was whole before is not forgotten', () => {
  const ofRole = { ...edit(noon), object: 'Role/orders' };
  const blocker = nameTaken(statedOf(report, 'Service/orders-ro'), 'somebody', false);
  const refusing = (...left: readonly (readonly [string, readonly Drift[]])[]): Outcome => ({
    ...nothingDone,
    left: new Map(left),
    blocker,
  });
  const roleAndService = [['Role/shop/orders', [ofRole]] as const, [key, [edit(noon)]] as const];
  const [before, after] = [newMemory('u'), newMemory('u')];
  remember(before, making(key), report, nobody);
  remember(before, refusing([key, [edit(noon)]]), report, nobody);
  remember(before, refusing(...roleAndService), report, nobody);
  remember(after, refusing(...roleAndService), restarted(edit(noon), ofRole), nobody);
  assert.deepEqual([...after.left], [...before.left]);
  assert.deepEqual([before.wholeGeneration, after.wholeGeneration], [1, 1]);
  const never = newMemory('u');
  remember(never, refusing(...roleAndService), report, nobody);
  assert.equal(never.wholeGeneration, undefined);
});

test('what was corrected waits for a status that tells of it', () => {
  const memory = newMemory('u');
  remember(memory, { ...nothingDone, corrected: [edit(noon)] }, report, nobody);
  remember(memory, { ...nothingDone, corrected: [removal] }, report, nobody);
  assert.deepEqual(memory.untold.corrected, [edit(noon), removal]);
});

test('a receipt says whom it restarts to put a pod template back, and nothing of other changes', () => {
  const memory = newMemory('u');
  const image = {
    ...edit(noon),
    object: 'StatefulSet/orders',
    field: 'spec.template.spec.containers[name=postgres].image',
  };
  const sidecar = { ...image, field: 'spec.template.spec.containers[name=mesh]', was: undefined };
  const restarts = { isManaged: true, made: ['orders-1'] };
  remember(memory, { ...leaving(image, sidecar), corrected: [image, sidecar, edit(noon)] }, report, restarts);
  const costs = (drifts: readonly Drift[], action: string) =>
    (statusOf({ corrected: [], reported: [], [action]: drifts }).drift?.receipts ?? []).map(({ cost }) => cost);
  const done = 'That restarts the member that was made from it (orders-1).';
  assert.deepEqual(costs(memory.untold.corrected, 'corrected'), [done, done, undefined]);
  const due = 'To put it back restarts the member that was made from it (orders-1).';
  assert.deepEqual(costs(memory.untold.reported, 'reported'), [due, undefined]);
});
