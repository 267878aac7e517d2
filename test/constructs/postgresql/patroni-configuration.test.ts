import type { V1ConfigMap } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { orders, rendered } from './orders.ts';

interface Dynamic {
  readonly synchronous_mode: false | 'quorum';
  readonly synchronous_mode_strict: boolean;
  readonly postgresql: { readonly parameters: Readonly<Record<string, string>> };
}

interface Member {
  readonly major: number;
  readonly members: readonly string[];
  readonly patroni: {
    readonly scope: string;
    readonly kubernetes: Readonly<Record<string, unknown>>;
    readonly postgresql: { readonly data_dir: string; readonly listen: string; readonly pg_hba: readonly string[] };
    readonly restapi: { readonly listen: string };
    readonly bootstrap?: unknown;
  };
}

function annotationOf(spec: Partial<DatabaseServiceSpec> = {}): string {
  const { metadata } = rendered<V1ConfigMap>(orders(spec), 'ConfigMap', 'orders-patroni-config');
  return metadata.annotations?.['config'] ?? '';
}

function dynamic(spec: Partial<DatabaseServiceSpec> = {}): Dynamic {
  return JSON.parse(annotationOf(spec)) as Dynamic;
}

function startUp(spec: Partial<DatabaseServiceSpec> = {}): Member {
  const { data } = rendered<V1ConfigMap>(orders(spec), 'ConfigMap', 'orders-patroni');
  return JSON.parse(data?.['member.json'] ?? '') as Member;
}

test('the dynamic configuration of the smallest database', () => {
  assert.deepEqual(dynamic(), {
    failsafe_mode: true,
    ignore_slots: [{ type: 'logical' }],
    loop_wait: 5,
    maximum_lag_on_failover: 1048576,
    member_slots_ttl: 120,
    postgresql: {
      parameters: {
        max_replication_slots: '32',
        max_wal_senders: '32',
        max_wal_size: '1024MB',
        shared_buffers: '128MB',
        wal_keep_size: '128MB',
        wal_retrieve_retry_interval: '1s',
      },
      remove_data_directory_on_rewind_failure: true,
      use_pg_rewind: true,
      use_slots: true,
    },
    primary_start_timeout: 60,
    retry_timeout: 5,
    synchronous_mode: false,
    synchronous_mode_strict: false,
    ttl: 20,
  });
});

test('replicas keep failover slots in step where PostgreSQL can and logical slots are asked for, and only there', () => {
  const settings = (version: string, parameters?: DatabaseServiceSpec['parameters']) => {
    const spec = { version, ...(parameters === undefined ? {} : { parameters }) };
    const { hot_standby_feedback: feedback, sync_replication_slots: sync } = dynamic(spec).postgresql.parameters;
    return [feedback, sync];
  };
  assert.deepEqual(settings('17', { wal_level: 'logical' }), ['on', 'on']);
  assert.deepEqual(settings('18.1', { wal_level: 'LOGICAL' }), ['on', 'on']);
  assert.deepEqual(settings('17', { wal_level: 'logical', hot_standby_feedback: 'off' }), ['off', 'on']);
  for (const [version, parameters] of [
    ['16', { wal_level: 'logical' }],
    ['17', { wal_level: 'replica' }],
    ['17', undefined],
  ] as const) {
    assert.deepEqual(settings(version, parameters), [undefined, undefined]);
  }
});

test('of the ConfigMap of the dynamic configuration we state the annotation and the labels, no more', () => {
  const { metadata, ...rest } = rendered<V1ConfigMap>(orders(), 'ConfigMap', 'orders-patroni-config');
  assert.deepEqual(rest, { apiVersion: 'v1', kind: 'ConfigMap' });
  assert.deepEqual(Object.keys(metadata.annotations ?? {}), ['config']);
  assert.equal(metadata.labels?.['plumbline.dev/patroni'], 'orders-patroni');
});

const durabilities = [
  ['Async', false, false],
  ['Sync', 'quorum', false],
  ['SyncStrict', 'quorum', true],
] as const;
for (const [durability, mode, strict] of durabilities) {
  test(`durability ${durability}`, () => {
    const { synchronous_mode, synchronous_mode_strict } = dynamic({ durability, replicas: 2 });
    assert.deepEqual([synchronous_mode, synchronous_mode_strict], [mode, strict]);
  });
}

test('a setting of the spec wins over ours, and all are text', () => {
  const { parameters } = dynamic({ parameters: { shared_buffers: '1GB', max_wal_senders: '5' } }).postgresql;
  assert.equal(parameters['shared_buffers'], '1GB');
  assert.equal(parameters['max_wal_senders'], '5');
  assert.ok(Object.values(parameters).every((value) => typeof value === 'string'));
});

test('the order of the settings in the spec changes nothing', () => {
  assert.equal(
    annotationOf({ parameters: { work_mem: '8MB', jit: 'off' } }),
    annotationOf({ parameters: { jit: 'off', work_mem: '8MB' } }),
  );
});

test('what looks like a number or a boolean stays the text that it is (cdk8s-core#2565)', () => {
  const parameters = {
    application_name: '"$user", public',
    bytea_output: '0o17',
    cursor_tuple_fraction: '1.10',
    extra_float_digits: '0600',
    intervalstyle: '1:30',
    jit: 'on',
    log_line_prefix: '%m [%p] ',
    log_timezone: '~',
    random_page_cost: '1e3',
    search_path: '',
    timezone: 'null',
  };
  const found = dynamic({ parameters }).postgresql.parameters;
  for (const [name, value] of Object.entries(parameters)) assert.equal(found[name], value);
});

test('the annotation has the bytes that Patroni writes back after its first bootstrap, so it stays ours', () => {
  // WHEN a value holds what Python's json.dumps escapes and JSON.stringify does not
  const annotation = annotationOf({ parameters: { search_path: 'größe, 😀, "a\\b"' } });
  // THEN it is escaped as there, and without a space
  assert.ok(annotation.includes(String.raw`"search_path":"gr\u00f6\u00dfe, \ud83d\ude00, \"a\\b\""`));
  assert.equal(dynamic({ parameters: { search_path: '😀' } }).postgresql.parameters['search_path'], '😀');
  // eslint-disable-next-line no-control-regex
  assert.match(annotation, /^[\x20-\x7e]+$/);
});

test('Patroni finds and stamps its objects by a label of its own, so the controller never sees the lock change', () => {
  assert.deepEqual(startUp().patroni.kubernetes, {
    follower_label_value: 'replica',
    labels: {},
    leader_label_value: 'primary',
    role_label: 'plumbline.dev/role',
    scope_label: 'plumbline.dev/patroni',
    standby_leader_label_value: 'primary',
    use_endpoints: false,
  });
  assert.equal(startUp().patroni.scope, 'orders-patroni');
});

test('servers listen on both families of addresses', () => {
  const { postgresql, restapi } = startUp().patroni;
  assert.deepEqual([postgresql.listen, restapi.listen], ['*:5432', '*:8008']);
});

test('every login is by password, whatever the family of its address; only the pod’s own user is known by the kernel', () => {
  const rules = startUp().patroni.postgresql.pg_hba.map((line) => line.split(' '));
  for (const [type = '', , user, ...rest] of rules) {
    if (type === 'host') {
      const [address, method = ''] = rest;
      assert.equal(address, 'all');
      assert.match(method, /^(scram-sha-256|reject)$/);
    } else {
      assert.equal(type, 'local');
      assert.equal(rest[0], user === 'postgres' ? 'peer' : 'scram-sha-256');
    }
  }
});

test('the data lies one level below the mount', () => {
  assert.equal(startUp().patroni.postgresql.data_dir, '/data/pgdata');
});

test('no member may initialise by its rendered configuration: the start gate allows it', () => {
  assert.equal(startUp().patroni.bootstrap, undefined);
});

test('members know the major of the version and everyone who can ever be a member', () => {
  const { major, members } = startUp({ version: '17.9' });
  assert.equal(major, 17);
  assert.deepEqual([members[0], members.at(-1), members.length], ['orders-0', 'orders-9', 10]);
});
