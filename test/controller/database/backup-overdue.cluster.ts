import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop } from './shop.ts';

test('a backup that nobody makes is told by one timer, and until there is one', async () => {
  // GIVEN a database whose backup is due in half a day
  await using shop = await Shop.open();
  const hour = (new Date().getUTCHours() + 12) % 24;
  await shop.create('orders', { backup: { schedule: `30 ${hour} * * *`, volume: { size: '1Gi' } } });
  await shop.untilCondition('orders', 'BackupCurrent', /^False NoBackupYet/);
  const due = (await shop.status('orders'))?.backup?.dueTime ?? '';
  const until = Date.parse(due) - Date.now();
  assert.ok(until > 10 * 3_600_000 && until < 14 * 3_600_000, due);

  // WHEN the time has come, but for some seconds
  const ahead = until + 65 * 60_000 - 5_000;
  const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
  await shop.restart(undefined, { clock });
  const before = shop.running.requests.length;

  // THEN it is told, and nothing is asked but to write that
  const overdue = new RegExp(`^False BackupOverdue: The backup that was due at ${due} is missing: no Job has ended`);
  await shop.untilCondition('orders', 'BackupCurrent', overdue);
  await shop.running.settled();
  assert.ok(shop.running.requestsAfter(before).length <= 1);

  // AND a CronJob that was deleted and is there again does not end that
  await shop.delete('CronJob', 'orders-backup');
  await eventually('it is there again', async () => (await shop.get('CronJob', 'orders-backup')) && true);
  await shop.running.settled();
  assert.match(await shop.condition('orders', 'BackupCurrent'), overdue);

  // AND a good one does
  const lastSuccessfulTime = new Date(clock.now() - 1_000).toISOString().replace(/\.\d+Z/, 'Z');
  const body = { status: { lastSuccessfulTime } };
  await shop.patch('CronJob', 'orders-backup', {
    body,
    subresource: 'status',
    fieldManager: 'kube-controller-manager',
  });
  await shop.untilCondition('orders', 'BackupCurrent', /^True BackupSucceeded/);
  assert.equal((await shop.status('orders'))?.backup?.lastSuccessTime, lastSuccessfulTime);
});
