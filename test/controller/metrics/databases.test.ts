import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../../constructs/api/status.ts';
import { databaseLabel, roleLabel, tlsAnnotation, usageAnnotation } from '../../../constructs/labels.ts';
import type { Child } from '../../../controller/database/child.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { databaseText } from '../../../controller/metrics/databases.ts';
import { noon, resource, seen } from '../database/given.ts';
import { parseExposition, type Scrape } from './exposition.ts';

async function scrape(
  databases: readonly StoredDatabaseService[],
  children: Readonly<Record<string, readonly Child[]>> = {},
  failovers: (key: string) => number = () => 0,
): Promise<Scrape> {
  const byKey = new Map(databases.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
  const source = { databases: byKey, children: { of: (key: string) => children[key] ?? [] } };
  let text = '';
  for await (const part of databaseText(source, failovers)) text += part;
  return parseExposition(text);
}

function object(kind: string, name: string, more: object = {}, annotations: object = {}): Child {
  const metadata = { name, namespace: 'shop', labels: { [databaseLabel]: 'orders' }, annotations };
  return seen({ apiVersion: 'v1', kind, metadata, ...more } as unknown as KubeObject);
}

const running: DatabaseServiceStatus = {
  phase: 'Running',
  readyReplicas: 2,
  conditions: [
    { type: 'Ready', status: 'True', reason: 'AllReady', message: '', lastTransitionTime: noon },
    { type: 'Degraded', status: 'False', reason: 'AsWanted', message: '', lastTransitionTime: noon },
    { type: 'SomebodyElses', status: 'True', reason: 'Whatever', message: '', lastTransitionTime: noon },
  ],
};

describe('the series of databases', () => {
  test('count databases by phase, and every phase is there', async () => {
    const found = await scrape([resource({}, {}, running), resource({}, { name: 'new' })]);
    assert.equal(found.value('plumbline_databases', { phase: 'Running' }), 1);
    assert.equal(found.value('plumbline_databases', { phase: 'Pending' }), 1);
    assert.equal(found.all('plumbline_databases').length, 7);
    assert.equal((await scrape([])).all('plumbline_databases').length, 7);
  });

  test('say what a database is, how many members are ready, and which conditions of ours hold', async () => {
    const found = await scrape([resource({ replicas: 3 }, {}, running)]);
    const labels = { namespace: 'shop', name: 'orders' };
    assert.equal(found.value('plumbline_database_info', { ...labels, engine: 'postgresql', version: '17' }), 1);
    assert.equal(found.value('plumbline_database_replicas', labels), 3);
    assert.equal(found.value('plumbline_database_ready_replicas', labels), 2);
    const conditions = found.all('plumbline_database_condition', labels);
    assert.deepEqual(
      conditions.map(({ labels: { type, status, reason }, value }) => `${type} ${status} ${reason} ${value}`),
      ['Ready True AllReady 1', 'Degraded False AsWanted 1'],
    );
  });

  test('say what members tell of their volumes and certificates', async () => {
    const told = {
      [usageAnnotation]: JSON.stringify({ capacityBytes: 10_737_418_240, usedPercent: 85 }),
      [tlsAnnotation]: JSON.stringify({ notBefore: '2026-01-01T00:00:00Z', notAfter: '2026-04-01T00:00:00Z' }),
    };
    const pods = [object('Pod', 'orders-0', {}, told), object('Pod', 'orders-1')];
    const found = await scrape([resource()], { 'shop/orders': pods });
    const labels = { namespace: 'shop', name: 'orders', pod: 'orders-0' };
    assert.equal(found.value('plumbline_database_storage_capacity_bytes', labels), 10_737_418_240);
    assert.equal(found.value('plumbline_database_storage_used_ratio', labels), 0.85);
    const expiry = 'plumbline_database_certificate_expiry_timestamp_seconds';
    assert.equal(found.value(expiry, labels), Date.parse('2026-04-01T00:00:00Z') / 1000);
    assert.deepEqual(found.all(expiry, { pod: 'orders-1' }), []);
    assert.deepEqual(found.all('plumbline_database_storage_capacity_bytes', { pod: 'orders-1' }), []);
  });

  test('say how much of the WAL a replica lacks, where it and a ready primary have said where they are', async () => {
    const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const member = (ordinal: number, role: string, position: number | undefined, more: object = ready): Child => {
      const said = JSON.stringify({ state: 'running', role, xlog_location: position });
      const labels = { [databaseLabel]: 'orders', [roleLabel]: role };
      const metadata = { name: `orders-${ordinal}`, namespace: 'shop', labels, annotations: { status: said } };
      return seen({ apiVersion: 'v1', kind: 'Pod', metadata, ...more });
    };
    const lags = async (...members: readonly Child[]) => {
      const found = await scrape([resource()], { 'shop/orders': members });
      return found
        .all('plumbline_database_replication_lag_bytes', { namespace: 'shop', name: 'orders' })
        .map(({ labels, value }) => [labels['pod'], value]);
    };

    // The last one has said it later than the primary, and one of them has yet to say anything.
    const replicas = [member(1, 'replica', 700), member(2, 'replica', 1_010), member(3, 'replica', undefined)];
    assert.deepEqual(await lags(member(0, 'primary', 1_000), ...replicas), [
      ['orders-1', 300],
      ['orders-2', 0],
    ]);
    assert.deepEqual(await lags(member(0, 'primary', 1_000, {}), ...replicas), []);
    assert.deepEqual(await lags(member(0, 'primary', undefined), ...replicas), []);
  });

  test('count failovers from 0 on for each database, as a counter', async () => {
    const databases = [resource(), resource({}, { name: 'billing' })];
    const found = await scrape(databases, {}, (key) => (key === 'shop/orders' ? 2 : 0));
    const name = 'plumbline_failovers_total';
    assert.equal(found.types.get(name), 'counter');
    assert.equal(found.value(name, { namespace: 'shop', name: 'orders' }), 2);
    assert.deepEqual(
      found.all(name, { name: 'billing' }).map(({ value }) => value),
      [0],
    );
  });

  test('say when the last good backup ended: of the CronJob, or of a Job that it has not seen yet', async () => {
    const name = 'plumbline_backup_last_success_timestamp_seconds';
    const backup = { schedule: '30 2 * * *', volume: { size: '1Gi' } };
    const cronJob = object('CronJob', 'orders-backup', { status: { lastSuccessfulTime: '2026-01-01T02:31:00Z' } });
    const { facts } = object('Job', 'orders-backup-1', {
      status: {
        startTime: '2026-01-02T02:30:00Z',
        completionTime: '2026-01-02T02:32:00Z',
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-02T02:32:00Z' }],
      },
    });
    const owner = { kind: 'CronJob', name: 'orders-backup', uid: 'u' };
    const job = { ...object('Job', 'orders-backup-1'), owner, facts };
    const at = async (children: readonly Child[], spec: object) =>
      (await scrape([resource(spec)], { 'shop/orders': children })).all(name)[0]?.value;

    assert.equal(await at([cronJob], { backup }), Date.parse('2026-01-01T02:31:00Z') / 1000);
    assert.equal(await at([cronJob, job], { backup }), Date.parse('2026-01-02T02:32:00Z') / 1000);
    assert.equal(await at([], { backup }), undefined);
    assert.equal(await at([cronJob], {}), undefined);
  });

  test('take no value of a label for the end of it', async () => {
    const strange = 'a"b\\c\nd';
    const found = await scrape([resource({ version: strange })]);
    assert.equal(found.value('plumbline_database_info', { version: strange }), 1);
  });

  test('of 5,000 databases are written in parts, and one that goes meanwhile is left out', async () => {
    const byKey = new Map(
      Array.from({ length: 5_000 }, (_, index) => [`shop/db-${index}`, resource({}, { name: `db-${index}` }, running)]),
    );
    const parts: string[] = [];
    for await (const part of databaseText({ databases: byKey, children: { of: () => [] } }, () => 0)) {
      byKey.delete('shop/db-4999');
      parts.push(part);
    }
    assert(Math.max(...parts.map(({ length }) => length)) < 60_000);
    const found = parseExposition(parts.join(''));
    assert.equal(found.all('plumbline_database_info').length, 4_999);
    assert.equal(found.value('plumbline_databases', { phase: 'Running' }), 5_000);
  });
});
