import type { V1NetworkPolicy } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { orders, rendered } from './orders.ts';

const members = { podSelector: { matchLabels: { 'plumbline.dev/database': 'orders' } } };
const backups = { podSelector: { matchLabels: { 'plumbline.dev/backup': 'orders' } } };

function policy(spec: Partial<DatabaseServiceSpec>) {
  return rendered<V1NetworkPolicy>(orders(spec), 'NetworkPolicy', 'orders').spec;
}

const backup = { schedule: '30 2 * * *', volume: { size: '1Gi' } } as const;

const cases: readonly [title: string, spec: Partial<DatabaseServiceSpec>, peers: readonly object[]][] = [
  ['without access every pod of the namespace may connect', {}, [{ podSelector: {} }, members]],
  ['the backup may connect', { backup }, [{ podSelector: {} }, members, backups]],
  [
    'with access only those who are named, the members and the backup',
    { backup, access: { from: [{ ipBlock: { cidr: 'fd00::/8' } }, { namespaceSelector: {} }] } },
    [{ ipBlock: { cidr: 'fd00::/8' } }, { namespaceSelector: {} }, members, backups],
  ],
];

for (const [title, spec, peers] of cases) {
  test(title, () => {
    assert.deepEqual(policy(spec), {
      ingress: [
        { from: peers, ports: [{ port: 5432, protocol: 'TCP' }] },
        { from: [members], ports: [{ port: 8008, protocol: 'TCP' }] },
      ],
      podSelector: members.podSelector,
      policyTypes: ['Ingress'],
    });
  });
}

const prometheus = { namespaceSelector: { matchLabels: { team: 'monitoring' } } };

const scrapers: readonly [title: string, monitoring: DatabaseServiceSpec['monitoring'], peers: readonly object[]][] = [
  ['nobody scrapes what is not monitored', undefined, []],
  ['nor where that is off, whoever is named', { enabled: false, from: [prometheus] }, []],
  ['every pod of the namespace may scrape', { enabled: true }, [{ podSelector: {} }]],
  ['only who is named may scrape', { enabled: true, from: [prometheus] }, [prometheus]],
];

for (const [title, monitoring, peers] of scrapers) {
  test(`${title}, and who may is let to the metrics alone`, () => {
    // WHEN
    const [toPostgres, toPatroni, ...more] = policy(monitoring ? { monitoring } : {})?.ingress ?? [];
    // THEN
    assert.deepEqual([toPostgres, toPatroni], policy({})?.ingress);
    const ports = [8008, 9187].map((port) => ({ port, protocol: 'TCP' }));
    assert.deepEqual(more, peers.length === 0 ? [] : [{ from: peers, ports }]);
  });
}
