import assert from 'node:assert/strict';
import { test } from 'node:test';
import { python, Sandbox } from './sandbox.ts';

const pythonMissing = 'skip' in python ? python.skip : false;

interface Facts {
  readonly ordinal?: number;
  /** Identity of the data here. */
  readonly local?: string;
  /** Identities on claims. */
  readonly claims?: readonly string[];
  /** Identity on this member's claim. */
  readonly own?: string;
  readonly initialize?: string;
  readonly hasConfiguration?: boolean;
}

/** The rule: never a second initdb. */
const table: readonly [title: string, facts: Facts, verdict: string, reason: string][] = [
  ['member 0 of a new database initialises', {}, 'initialise', 'FirstStart'],
  ['so it does again when it was cut off', { initialize: '' }, 'initialise', 'FirstStart'],
  ['no other member does', { ordinal: 1 }, 'clone', 'WaitingForLeader'],
  ['nor does it while another initialises', { ordinal: 2, initialize: '' }, 'clone', 'WaitingForLeader'],
  ['member 0 clones where a claim has an identity', { claims: ['7'] }, 'clone', 'WaitingForLeader'],
  ['also where it is its own claim, whose data is gone', { claims: ['7'], own: '7' }, 'clone', 'WaitingForLeader'],
  ['also where Patroni alone has it', { initialize: '7' }, 'clone', 'WaitingForLeader'],
  ['without Patroni’s configuration a new database waits', { hasConfiguration: false }, 'hold', 'ConfigurationMissing'],
  ['but one whose identity is known does not', { claims: ['7'], hasConfiguration: false }, 'clone', 'WaitingForLeader'],
  ['data starts', { local: '7' }, 'start', 'DataPresent'],
  [
    'data of any member starts',
    { ordinal: 2, local: '7', claims: ['7'], own: '7', initialize: '7' },
    'start',
    'DataPresent',
  ],
  ['data whose record was lost starts', { ordinal: 2, local: '7', hasConfiguration: false }, 'start', 'DataPresent'],
  ['data that the claim says is another’s does not', { local: '7', claims: ['8'], own: '8' }, 'hold', 'ForeignData'],
  ['data that is not this database’s does not', { local: '7', claims: ['8'], initialize: '8' }, 'hold', 'ForeignData'],
  ['claims that disagree are nobody’s to decide', { claims: ['7', '8'] }, 'hold', 'IdentityConflict'],
];

test('the verdicts', { skip: pythonMissing }, async (t) => {
  using sandbox = new Sandbox();
  const rows = table.map(
    ([, { ordinal = 0, local = null, claims = [], own = null, initialize = null, hasConfiguration = true }]) => [
      ordinal,
      local,
      claims,
      own,
      initialize,
      hasConfiguration,
    ],
  );
  const program = `import json, sys; sys.path.insert(0, 'scripts'); from verdict import judge
print(json.dumps([judge(*row)[:2] for row in json.load(sys.stdin)]))`;
  const { output } = sandbox.run('python3', ['-c', program], { input: JSON.stringify(rows) });
  const verdicts = JSON.parse(output) as readonly [string, string][];
  for (const [index, [title, , verdict, reason]] of table.entries()) {
    await t.test(title, () => assert.deepEqual(verdicts[index], [verdict, reason]));
  }
});
