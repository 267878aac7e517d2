import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotsAnnotation } from '../../constructs/labels.ts';
import { claimName } from '../../constructs/names.ts';
import { memberSlots, type MemberSlots } from '../../controller/health/logical-slots.ts';
import { withoutPods } from '../cluster/index.ts';
import { podDeleted } from './faults.ts';
import { ManagedDatabase } from './managed-database.ts';

const skip = withoutPods();

// cloudnative-pg/cloudnative-pg#7646, patroni/patroni#3237
test('a logical slot of three members', { skip }, async (t) => {
  await using managed = await ManagedDatabase.open({ replicas: 3 });
  const { database } = managed;
  const consumer = new Consumer(managed);

  await t.test('the setting that it needs, and those that carry it over, are in force after one rollout', async () => {
    await managed.edit({ parameters: { wal_level: 'logical' } });
    await managed.stable();
    const query = `select string_agg(setting, ',' order by name) from pg_settings
      where name in ('wal_level', 'hot_standby_feedback', 'sync_replication_slots')`;
    assert.deepEqual(await managed.everySays(query), Array(3).fill('on,on,logical'));
  });

  await t.test('one that is made with failover is soon in step on every replica', async () => {
    // GIVEN a publication and a slot, 100 rows that were consumed, and 100 more
    const primary = await managed.primary();
    await database.sql(
      primary,
      'create table changes (n int primary key); create publication cdc for table changes',
      'app',
    );
    await consumer.makeSlot('cdc', { failover: true });
    await consumer.write(1, 100);
    await inStep(consumer);
    assert.equal(consumer.rows, 100);
    await consumer.write(101, 200);
  });

  await t.test('the pod of the primary is deleted: the consumer goes on and misses nothing', async () => {
    const primary = await managed.primary();
    await podDeleted.strike(database, primary);
    await database.allStream();
    assert.notEqual(await managed.primary(), primary);
    await consumer.consume('cdc');
    assert.deepEqual(consumer.missing(200), []);
  });

  await t.test('the primary of before has it in step again, and its outdated copy is named', async () => {
    await consumer.write(201, 210);
    await inStep(consumer);
    assert.deepEqual(consumer.missing(210), []);
    const [first] = managed.steps.filter(({ reason }) => reason === 'SlotCopyDropped');
    assert.match(first?.message ?? '', /outdated copy of logical slot cdc \(database app, plugin test_decoding\)/);
  });

  await t.test('a rolling change carries it over', async () => {
    managed.steps.length = 0;
    await consumer.write(211, 300);
    await managed.edit({ resources: { requests: { cpu: '60m', memory: '256Mi' } } });
    await managed.stable();
    await consumer.consume('cdc');
    assert.deepEqual(consumer.missing(300), []);
    assert.deepEqual(
      managed.steps.filter(({ reason }) => reason === 'SwitchoverHeld' || reason === 'SlotLost'),
      [],
    );
  });

  await t.test('a rolling change waits for one that would be lost, and says which', async () => {
    // GIVEN all in step again, and a slot that no replica has
    await consumer.write(301, 310);
    await inStep(consumer);
    await consumer.makeSlot('audit', { failover: false });
    const primary = await managed.primary();
    await managed.until('the primary states it', async () => {
      const slots = await slotsOf(managed, primary);
      return slots?.own.some(({ name }) => name === 'audit') || undefined;
    });
    const before = await managed.lives();
    managed.steps.length = 0;

    // WHEN
    await managed.edit({ resources: { requests: { cpu: '61m', memory: '256Mi' } } });
    const message = await managed.condition('Stalled', 'True', 'SlotAtRisk');

    // THEN
    assert.match(message, /would lose logical slot audit \(database app, plugin test_decoding\) of orders-\d/);
    assert.match(message, /plumbline\.dev\/lose-slots: "audit"/);
    assert.doesNotMatch(message, /cdc/);
    await managed.running.settled(5_000);
    const now = await managed.lives();
    const untouched = now.filter(({ uid }, i) => uid === before[i]?.uid).map(({ name }) => name);
    assert.deepEqual([await managed.primary(), untouched], [primary, [primary]]);
    assert.deepEqual(
      managed.steps.filter(({ reason }) => reason === 'SwitchoverHeld').map((one) => one.message),
      [message],
    );
  });

  await t.test('once it is given up the change goes on, and its loss is told', async () => {
    await managed.edit({}, { 'plumbline.dev/lose-slots': 'audit' });
    await managed.stable();
    const told = managed.steps.map(({ reason, message }) => `${reason}: ${message}`).join('\n');
    assert.match(told, /SwitchoverRequested: .* It loses logical slot audit .*, as plumbline\.dev\/lose-slots says/);
    assert.match(told, /SlotLost: orders-\d is the primary now and does not have logical slot audit/);
    assert.doesNotMatch(told, /SlotLost: .* slot cdc/);
    await consumer.consume('cdc');
    assert.deepEqual(consumer.missing(310), []);
  });

  await t.test('the old primary keeps the slot that was given up; when it is cloned anew, that is told', async () => {
    const primary = await managed.primary();
    const keeper = await managed.until('one has it still', async () => {
      for (const member of database.members) {
        const own = (await slotsOf(managed, member))?.own ?? [];
        if (member !== primary && own.some(({ name }) => name === 'audit')) return member;
      }
      return undefined;
    });
    const { cluster, namespace } = database;
    const things = [`persistentvolumeclaim/${claimName('orders', database.members.indexOf(keeper))}`, `pod/${keeper}`];
    const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'delete', ...things, '--wait=false']);
    assert.equal(code, 0, stderr);
    await managed.until('its end is told', () =>
      managed.steps.some(
        ({ reason, message }) =>
          reason === 'SlotGone' && message.startsWith(`${keeper} does not have logical slot audit (database app`),
      ),
    );
    await database.allStream();
    await inStep(consumer);
  });
});

test('a slot that nobody reads is named before the volume is full', { skip }, async () => {
  // GIVEN a slot, and more WAL than fits beside everything else
  await using managed = await ManagedDatabase.open({
    parameters: { wal_level: 'logical' },
    storage: { size: '512Mi' },
  });
  const { database } = managed;
  const primary = await managed.primary();
  await database.sql(primary, `select pg_create_logical_replication_slot('cdc', 'test_decoding')`, 'app');
  const used = async () => Number((await database.run(primary, ['df', '--output=pcent', '/data'])).replace(/\D/g, ''));
  // Each switch leaves a file of 16 MiB behind.
  while ((await used()) < 87) {
    await database.sql(primary, `select pg_logical_emit_message(false, 'test', ''); select pg_switch_wal()`);
  }

  // THEN it is to blame, and once it is dropped there is room again
  const message = await managed.condition('StorageCritical', 'True', 'SlotKeepsWal');
  assert.match(
    message,
    /^The volume of orders-0 is \d+ % full, and slot cdc keeps at least \d+ bytes \(\d+ MiB\) of WAL/,
  );
  await database.sql(primary, `select pg_drop_replication_slot('cdc'); checkpoint`);
  await managed.condition('StorageCritical', 'False', 'RoomLeft');
});

/** Who reads the changes of table `changes` of database `app` on the primary, and remembers which rows it was given. */
class Consumer {
  readonly managed: ManagedDatabase;
  readonly #rows = new Set<number>();

  constructor(managed: ManagedDatabase) {
    this.managed = managed;
  }

  async makeSlot(name: string, { failover }: { readonly failover: boolean }): Promise<void> {
    const statement = `select pg_create_logical_replication_slot('${name}', 'test_decoding', failover => ${failover})`;
    await this.#sql(statement);
  }

  async write(from: number, to: number): Promise<void> {
    await this.#sql(`insert into changes select generate_series(${from}, ${to})`);
  }

  async consume(slot: string): Promise<void> {
    const changes = await this.#sql(`select data from pg_logical_slot_get_changes('${slot}', null, null)`);
    for (const [, n] of changes.matchAll(/INSERT: n\[integer\]:(\d+)/g)) this.#rows.add(Number(n));
  }

  /** How many rows it has been given by now, each counted once. */
  get rows(): number {
    return this.#rows.size;
  }

  /** The first rows that it has not been given. */
  missing(to: number): readonly number[] {
    return Array.from({ length: to }, (_, i) => i + 1).filter((n) => !this.#rows.has(n));
  }

  async #sql(statement: string): Promise<string> {
    return this.managed.database.sql(await this.managed.primary(), statement, 'app');
  }
}

async function slotsOf({ database }: ManagedDatabase, member: string): Promise<MemberSlots | undefined> {
  const { metadata } = await database.pod(member);
  return memberSlots({ [slotsAnnotation]: metadata.annotations?.[slotsAnnotation] ?? '{}' });
}

/** Waits until every replica has slot `cdc` in step and none of its own; that takes a consumer who reads now and then, as they do. */
async function inStep(consumer: Consumer): Promise<void> {
  const { managed } = consumer;
  const primary = await managed.primary();
  const replicas = managed.database.members.filter((member) => member !== primary);
  await managed.until('every replica has the slot in step', async () => {
    await consumer.consume('cdc');
    const slots = await Promise.all(replicas.map((member) => slotsOf(managed, member)));
    return slots.every((one) => one?.own.length === 0 && one.synced.join() === 'cdc') || undefined;
  });
}
