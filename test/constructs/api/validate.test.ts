import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sentence } from '../../../constructs/api/problem.ts';
import { assertValid, InvalidResourceError, validateResource, validateText } from '../../../constructs/api/validate.ts';

const valid = {
  apiVersion: 'plumbline.dev/v1alpha1',
  kind: 'DatabaseService',
  metadata: { name: 'orders' },
  spec: { engine: 'postgresql', version: '17', storage: { size: '10Gi' } },
};

function withSpec(spec: object): object {
  return { ...valid, spec: { ...valid.spec, ...spec } };
}

const lines = (text: string): readonly string[] =>
  validateText(text).flatMap(({ problems }) => problems.map((problem) => `${problem.line}: ${sentence(problem)}`));

test('everything that is wrong is said at once, with the line in the file', () => {
  const text = `apiVersion: plumbline.dev/v1alpha1
kind: DatabaseService
metadata:
  name: 2024-orders
  lables: {}
spec:
  engine: postgresql
  version: 17.10
  replica: 3
  storage:
    size: 10GB
  parameters:
    random_page_cost: 1.10
    fsync: "off"
  durability: Sync
  backup:
    schedule: 0 0 31 2 *
    timeZone: europe/berlin
`;
  assert.deepEqual(lines(text), [
    '5: metadata.lables: {} is not a known field; did you mean labels?',
    '4: metadata.name: "2024-orders" must begin with a letter, have only a-z, 0-9 and -, no dots, not end with -, and be at most 45 long; such as orders',
    '9: spec.replica: 3 is not a known field; did you mean replicas?',
    '8: spec.version: 17.10 must be text; write it in quotes: "17.10"',
    '11: spec.storage.size: "10GB" must be a quantity of whole bytes, with at most three digits behind a point; GB and gb are no suffixes, and m means thousandths; such as 10Gi',
    '13: spec.parameters.random_page_cost: 1.10 must be text; write it in quotes: "1.10"',
    '16: spec.backup.volume: is required',
    '15: spec.durability: "Sync" must be Async, or replicas must be 2 or more',
    '14: spec.parameters.fsync: "off" must not be set: Plumbline sets it, or it can run code: fsync',
    '17: spec.backup.schedule: "0 0 31 2 *" must not name a date that never comes, such as 31 February',
    '18: spec.backup.timeZone: "europe/berlin" must be a name of the IANA time zone database in its own spelling, such as Europe/Berlin or Etc/UTC',
  ]);
});

describe('a rule that speaks of a field that is malformed is left out', () => {
  test('requests are not compared with a limit that is no quantity', () => {
    const resources = { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '1', memory: '1GB' } };
    assert.deepEqual(
      validateResource(withSpec({ resources })).map(({ field }) => field),
      ['spec.resources.limits.memory', 'spec.resources.requests.cpu'],
    );
  });

  test('durability is not judged by replicas that are no number', () => {
    assert.deepEqual(
      validateResource(withSpec({ replicas: 'two', durability: 'Sync' })).map(({ field }) => field),
      ['spec.replicas'],
    );
  });
});

describe('a change is judged against what was before', () => {
  const cases: readonly [name: string, before: object, after: object, ...sentences: string[]][] = [
    ['nothing changed', {}, {}],
    ['a default that is now stated', {}, { database: 'app', replicas: 1 }],
    ['the size in other words', {}, { storage: { size: '10240Mi' } }],
    [
      'the size',
      {},
      { storage: { size: '20Gi' } },
      'spec.storage.size: "20Gi" cannot be changed: volumes are not resized yet; it was "10Gi"',
    ],
    [
      'the class',
      {},
      { storage: { size: '10Gi', storageClass: 'fast' } },
      'spec.storage.storageClass: "fast" cannot be changed: Kubernetes cannot move a volume to another class; it was absent',
    ],
    [
      'the major version',
      {},
      { version: '18.1' },
      'spec.version: "18.1" cannot be moved to another major: major upgrades are not done yet; it was "17"',
    ],
    [
      'the database',
      { database: 'shop' },
      {},
      'spec.database: cannot be changed: rename it in SQL and create a new DatabaseService, or keep it; it was "shop"',
    ],
    ['a null is no change', { database: null }, { database: 'app' }],
  ];
  for (const [name, before, after, ...sentences] of cases)
    test(name, () => assert.deepEqual(validateResource(withSpec(after), withSpec(before)).map(sentence), sentences));
});

test('the resource is what the API server would store: nulls are gone, defaults are there, a status is not', () => {
  const [judged] = validateText(`apiVersion: plumbline.dev/v1alpha1
kind: DatabaseService
metadata: {name: orders, namespace: , labels: {team: }}
spec:
  engine: postgresql
  version: "17"
  storage: {size: 10Gi, storageClass: null}
  parameters: {work_mem: , max_connections: "100"}
status: {phase: Running}
`);
  const { line, ...rest } = judged ?? { line: undefined };
  assert.equal(line?.('metadata.name'), 3);
  assert.deepEqual(rest, {
    resource: {
      ...valid,
      metadata: { name: 'orders', labels: { team: '' } },
      spec: { ...valid.spec, parameters: { max_connections: '100' }, replicas: 1 },
    },
    problems: [],
  });
});

test('a value that the document does not have in that line is not quoted from it', () => {
  const text = JSON.stringify({ ...valid, spec: { ...valid.spec, version: 17.5 } });
  assert.deepEqual(lines(text), ['1: spec.version: 17.5 must be text; write it in quotes: "17.5"']);
});

test('what is no DatabaseService says only that', () => {
  assert.deepEqual(validateResource({ ...valid, kind: 'Deployment', spec: {} }).map(sentence), [
    'kind: "Deployment" is not a DatabaseService; write kind: DatabaseService',
  ]);
  assert.deepEqual(validateResource('hello').map(sentence), ['"hello" is not an object; write a DatabaseService']);
});

test('assertValid throws all problems in one message', () => {
  assert.doesNotThrow(() => assertValid(valid));
  assert.throws(
    () => assertValid(withSpec({ version: '11', replicas: 0 })),
    (error: unknown) => {
      assert.ok(error instanceof InvalidResourceError);
      assert.match(
        error.message,
        /^The DatabaseService is not valid:\n {2}spec\.replicas: 0 .*\n {2}spec\.version: "11" /,
      );
      return error.problems.length === 2;
    },
  );
});
