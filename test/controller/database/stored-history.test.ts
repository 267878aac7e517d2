import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { observedMembers } from '../../../controller/database/observed-members.ts';
import { noAdvances } from '../../../controller/database/advances.ts';
import { stateWithSecrets } from '../../../controller/database/stated.ts';
import { storedHistory } from '../../../controller/database/stored-history.ts';
import { tried } from '../../../controller/rollout/history.ts';
import { setCourse, stabilised, type Course, type History } from '../../../controller/rollout/index.ts';
import { revisionOf } from '../../../controller/rollout/revision.ts';
import { noon, resource, seen } from './given.ts';
import { memberPod, memberSet } from './member-pods.ts';

const database = resource({ image: 'postgresql:2', parameters: { jit: 'off' } });
const children = [memberSet(database), memberPod(database, 0, { isPrimary: true })].map((object) => seen(object));
const older = revisionOf({ ...database.spec, image: 'postgresql:1', parameters: { work_mem: '8MB' } });
const first: History = {
  released: older,
  stable: [],
  refused: { digest: 'd', generation: 1, time: noon, reason: 'RolloutFailed', message: 'orders-0 gets nowhere' },
};
const history = tried({ ...stabilised(first, older, 1, noon), refused: first.refused }, older, noon, ['orders-0']);

/** The course with a text in the ConfigMap, rendered as it would be applied. */
function courseWith(text: string): Course {
  const metadata = { name: 'orders-history', namespace: 'shop', labels: { 'plumbline.dev/database': 'orders' } };
  const stored = seen({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'history.json': text } });
  const course = setCourse({
    spec: database.spec,
    generation: 2,
    asked: undefined,
    history: storedHistory([stored], 'orders'),
    observe: (spec) => ({ ...observedMembers(database, children, spec, noAdvances), isSwitching: false }),
    now: Date.parse(noon),
    patienceMs: 300_000,
    isTakenBack: true,
    isManaged: true,
  });
  stateWithSecrets({ ...database, spec: course.spec });
  return course;
}

/** The paths to every value within a value, itself first. */
function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path]))];
}

function withAt(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  const changed = withAt((value as Record<string, unknown>)[key], rest, put);
  return Array.isArray(value)
    ? value.map((one: unknown, i) => (String(i) === key ? changed : one))
    : { ...(value as object), [key]: changed };
}

test('a history that was stored is gone on from', () => {
  const course = courseWith(JSON.stringify(history));
  assert.deepEqual(course.history.stable, JSON.parse(JSON.stringify(history.stable)));
});

test('whatever somebody writes into the ConfigMap of the history, the database is seen to', () => {
  const plain: unknown = JSON.parse(JSON.stringify(history));
  const edited = fc
    .tuple(
      fc.constantFrom(...pathsOf(plain)),
      fc.oneof(fc.jsonValue(), fc.constantFrom(null, {}, [], '', 'x', -1, 1e9)),
    )
    .map(([path, put]) => JSON.stringify(withAt(plain, path, put)) ?? '');
  const texts = fc.oneof({ weight: 5, arbitrary: edited }, fc.json(), fc.string());
  const examples = ['{"released":{},"stable":[]}', '{"released":{"template":{},"parameters":{}},"stable":[]}', 'null'];
  fc.assert(
    fc.property(texts, (text) => void courseWith(text)),
    { numRuns: 400, examples: examples.map((text): [string] => [text]) },
  );
});
