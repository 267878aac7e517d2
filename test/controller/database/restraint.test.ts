import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { contestInWords, pauseEnd, restraintOf } from '../../../controller/database/restraint.ts';
import type { Contest, Contests } from '../../../controller/drift/index.ts';
import { noon, resource } from './given.ts';

const now = Date.parse(noon);
const until = now + 60_000;

function contest(drift: Partial<Contest['drift']>, manager = 'autoscaler'): Contest {
  const editor = { manager, operation: 'Update', time: undefined };
  const whole = { object: 'StatefulSet/orders', field: 'spec.replicas', was: '3', now: '5', editor, ...drift };
  return { drift: whole, flips: [], rivals: [manager], rests: 1, until };
}

/** What the line of a fight's words is as YAML. */
function lineIn(words: string): unknown {
  const [, line] = /To let it be so: (.*)\. To have it as the spec says: /s.exec(words) ?? [];
  assert(line, words);
  return load(line);
}

const left = 'it is left until 2026-01-01T12:01:00Z.';
for (const [what, one, expected] of [
  [
    'a field below spec can be given away',
    contest({}),
    `autoscaler and Plumbline keep changing spec.replicas of StatefulSet/orders (5 and 3); ${left} To let it be so: drift: {allowManagers: [autoscaler]}. To have it as the spec says: take it out of what it writes.`,
  ],
  [
    'a label cannot, and hidden values stay so',
    contest({ field: 'data.x', object: 'ConfigMap/orders', was: '(hidden)', now: '(hidden)' }, 'argocd-controller'),
    `argocd-controller and Plumbline keep changing data.x of ConfigMap/orders ((hidden) and (hidden)); ${left} To let it be so: drift: {policy: Report}. To have it as the spec says: ignoreDifferences: [{group: "*", kind: ConfigMap, managedFieldsManagers: [plumbline]}] in its Application.`,
  ],
  [
    'nobody is named for a deletion',
    contest({ field: '', was: undefined, now: undefined }, 'unknown'),
    `Somebody and Plumbline keep changing StatefulSet/orders; ${left} To let it be so: drift: {policy: Report}. To have it as the spec says: take it out of what it writes.`,
  ],
  [
    'another one of our name is to be stopped',
    contest({}, 'plumbline'),
    `Somebody under the name of Plumbline and Plumbline keep changing spec.replicas of StatefulSet/orders (5 and 3); ${left} To let it be so: drift: {policy: Report}. To have it as the spec says: stop the other one.`,
  ],
] as const) {
  test(`a fight in words: ${what}`, () => assert.equal(contestInWords(one, resource()), expected));
}

test('the line that ends a fight says that and no more, whatever name somebody gave himself', () => {
  // What the API server takes for a manager: up to 128 printable characters.
  const names = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.string({ unit: 'binary-ascii', minLength: 1 }),
      fc.constantFrom(
        'ops], policy: Report, x: [',
        '#ops: a',
        '"',
        "'",
        'true',
        '1e3',
        '~',
        'a: b',
        '- a',
        '\\',
        'No',
        '*a',
      ),
    )
    .filter((name) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(name) && name !== 'unknown' && name !== 'plumbline');
  fc.assert(
    fc.property(names, fc.uniqueArray(names, { maxLength: 2 }), (manager, before) => {
      const words = contestInWords(contest({}, manager), resource({ drift: { allowManagers: before } }));
      assert.deepEqual(lineIn(words), { drift: { allowManagers: [...new Set([...before, manager])] } });
    }),
    { numRuns: 1_000 },
  );
});

test('a number of members that decides about volumes is not given away', () => {
  const database = resource({ storage: { size: '1Gi', onDelete: 'Delete' } });
  assert.deepEqual(lineIn(contestInWords(contest({}), database)), { drift: { policy: 'Report' } });
  const image = contest({ field: 'spec.template.spec.containers[name=postgres].image' });
  assert.deepEqual(lineIn(contestInWords(image, database)), { drift: { allowManagers: ['autoscaler'] } });
});

test('some that take turns are named and allowed all, and many are not', () => {
  const among = (...rivals: readonly string[]) => contestInWords({ ...contest({}), rivals }, resource());
  assert.match(among('a', 'b'), /^a, b and Plumbline keep changing .* drift: \{allowManagers: \[a, b\]\}\./);
  assert.match(among('a', 'b', 'c', 'd', 'e'), /^a, b, c, 2 more and Plumbline .* drift: \{policy: Report\}\./);
});

test('who wipes managedFields cannot be let be', () => {
  const wipe = { field: 'metadata.managedFields', was: undefined, now: undefined };
  assert.equal(
    contestInWords(contest(wipe, 'unknown'), resource()),
    `Somebody and Plumbline keep changing metadata.managedFields of StatefulSet/orders; ${left} To have it as the spec says: find out who wipes it.`,
  );
});

test('a pause holds until its end; one in the past, or none, does not', () => {
  const paused = (time: string) => resource({ drift: { pause: { until: time } } });
  assert.equal(pauseEnd(paused('2026-01-01T13:00:00+01:00'), now), undefined);
  assert.equal(pauseEnd(paused('2026-01-01T12:00:01Z'), now), now + 1_000);
  assert.equal(pauseEnd(resource(), now), undefined);
});

test('a pause holds for all objects, a fight for the one that it is about', () => {
  const contests: Contests = new Map([['', contest({})]]);
  const kindOf = (spec: Parameters<typeof resource>[0], object: string) =>
    restraintOf(resource(spec), contests, object, now)?.kind;
  assert.equal(kindOf({}, 'StatefulSet/orders'), 'contested');
  assert.equal(kindOf({}, 'Service/orders'), undefined);
  assert.equal(kindOf({ drift: { pause: { until: '2027-01-01T00:00:00Z' } } }, 'Service/orders'), 'paused');
});
