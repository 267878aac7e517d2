import assert from 'node:assert/strict';
import test from 'node:test';
import type { Action, ActionOf } from '../../../controller/database/action.ts';
import { Children } from '../../../controller/database/children.ts';
import type { Outcome } from '../../../controller/database/delivery.ts';
import type { Observed } from '../../../controller/database/plan.ts';
import { ClusterDelivery } from '../../../controller/delivery/apply.ts';
import { deletion } from '../../../controller/drift/index.ts';
import {
  KubeError,
  systemClock,
  type Kube,
  type KubeErrorFacts,
  type KubeObject,
} from '../../../controller/kube/index.ts';
import { changed, disowned } from '../drift/live.ts';
import { accepted, live, observed, resource, settledStatus, statedOf } from '../database/given.ts';

const orders = resource({}, {}, settledStatus);
const role = statedOf(orders, 'Role/orders-members');
const service = statedOf(orders, 'Service/orders');
const readOnly = statedOf(orders, 'Service/orders-ro');
const secret = statedOf(orders, 'Secret/orders-system');
const gone = [deletion('Service', 'orders')];

const failure = (facts: Partial<KubeErrorFacts>): KubeError =>
  new KubeError({ tried: { verb: 'apply', kind: 'Service', object: '' }, message: 'no', ...facts });
const conflict = failure({ status: 409, reason: 'Conflict', message: 'the object has been modified' });
const exists = failure({ status: 409, reason: 'AlreadyExists' });
const missing = failure({ status: 404, reason: 'NotFound', details: { name: 'orders', causes: [] } });
const quota = failure({ status: 403, message: 'exceeded quota: q' });
const busy = failure({ status: 503 });

type Answer = KubeObject | Error | ((body: KubeObject) => KubeObject);

/** A cluster of which each next answer is given. Requests are noted as `verb kind name guard`. */
class Given {
  readonly requests: string[] = [];
  readonly bodies: KubeObject[] = [];
  readonly children = new Children(() => undefined);
  readonly #answers: Answer[];
  readonly #delivery: ClusterDelivery;

  constructor(...answers: readonly Answer[]) {
    this.#answers = [...answers];
    const kube: Partial<Kube> = {
      apply: async (object, options) => {
        const dryRun = options.dryRun === true ? ' dry' : '';
        const request = `apply${dryRun} ${nameOf(object)}${guardIn(object.metadata)}`;
        return { object: this.#answer(object, request) as never, isCreated: false };
      },
      create: async (object) => this.#answer(object, `create ${nameOf(object)}`) as never,
      get: async (type, ref) => this.#answer(undefined, `get ${type.kind} ${ref.name}`) as never,
      delete: async (type, ref, options) => {
        this.#answer(undefined, `delete ${type.kind} ${ref.name}${guardIn(options ?? {})}`);
      },
    };
    this.#delivery = new ClusterDelivery(kube as Kube, this.children, systemClock);
  }

  carryOut(actions: readonly Action[], view: Observed = observed(orders, [])): Promise<Outcome> {
    return this.#delivery.carryOut(actions, view, new AbortController().signal);
  }

  #answer(body: KubeObject | undefined, request: string): KubeObject {
    this.requests.push(request);
    if (body !== undefined) this.bodies.push(body);
    const answer = this.#answers.shift() ?? ((echo: KubeObject) => echo);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(body ?? live(service)) : answer;
  }
}

const guardIn = ({ uid, resourceVersion }: { readonly uid?: string; readonly resourceVersion?: string }): string =>
  `${uid === undefined ? '' : ` uid ${uid}`}${resourceVersion === undefined ? '' : ` version ${resourceVersion}`}`;
const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
const create = (stated: typeof service, drifts: typeof gone = []): Action => ({ kind: 'create', stated, drifts });
const apply = (stated: typeof service, isRepair = false, more: Partial<ActionOf<'apply'>> = {}): Action => ({
  kind: 'apply',
  stated,
  uid: 'u1',
  resourceVersion: '7',
  isRepair,
  drifts: isRepair ? gone : [],
  taken: [],
  yielded: [],
  contested: undefined,
  hasOldHands: false,
  untold: [],
  live: undefined,
  ...more,
});

test('a creation is an apply that no existing object meets, and its answer is remembered', async () => {
  const given = new Given(live(service));
  const outcome = await given.carryOut([create(service, gone)]);
  assert.deepEqual(given.requests, ['apply Service orders version 1']);
  assert.deepEqual([outcome.made, outcome.corrected], [[service.key], gone]);
  assert.equal(given.children.get(service.key)?.suspect, undefined);
});

test('what others fight about is left out of what is applied, and told as left until it is looked at again', async () => {
  // GIVEN
  const given = new Given(live(service));
  const contested = gone.map((one) => ({ ...one, field: 'spec.selector' }));
  // WHEN
  const outcome = await given.carryOut([apply(service, true, { yielded: [['f:spec', 'f:selector']], contested })]);
  // THEN
  const { selector: _, ...rest } = service.object['spec'] as { readonly selector: unknown };
  assert.deepEqual(
    given.bodies.map((body) => body['spec']),
    [rest],
  );
  assert.deepEqual([outcome.corrected, outcome.flips], [gone, gone]);
  assert.deepEqual([...outcome.left], [[service.key, contested]]);
  assert.equal(given.children.get(service.key)?.accepted?.isDrifted, true);
});

test('what exists is applied to that very object as it was seen', async () => {
  const given = new Given(live(service));
  const outcome = await given.carryOut([apply(service, true)]);
  assert.deepEqual([given.requests, outcome.corrected], [['apply Service orders uid u1 version 7'], gone]);
});

test('where an object has changed since it was seen, it is read and decided again, once', async () => {
  const newer = disowned(changed(live(service), ['spec', 'type'], 'NodePort'), ['f:spec', 'f:type']);
  const given = new Given(conflict, newer, live(service));
  const { corrected, outdated } = await given.carryOut([apply(service, true)]);
  assert.deepEqual(given.requests, [
    'apply Service orders uid u1 version 7',
    'get Service orders',
    'apply Service orders uid uid-Service version 100',
  ]);
  assert.deepEqual([corrected.map(({ field }) => field), outdated], [['spec.type'], undefined]);

  const busyOne = new Given(conflict, newer, conflict);
  const outcome = await busyOne.carryOut([apply(service, true)]);
  assert.deepEqual([busyOne.requests.length, outcome.outdated, outcome.refused.size], [3, conflict, 0]);
});

test('of two looks the newer one counts, without a question where the watch has shown it', async () => {
  const given = new Given(conflict, live(service));
  given.children.accept(live(service, { uid: 'u1', resourceVersion: '9' }), 'before');
  await given.carryOut([apply(service)]);
  assert.deepEqual(given.requests, ['apply Service orders uid u1 version 7', 'apply Service orders uid u1 version 9']);
});

test('an object whose own controller is about to write its status is bound by its uid alone', async () => {
  const given = new Given(live(service), live(service));
  const seen = (observedGeneration: number) =>
    live(service, { metadata: { generation: 2 }, fields: { status: { observedGeneration } } });
  for (const generation of [1, 2]) {
    await given.carryOut([{ ...apply(service), live: seen(generation) } as Action]);
  }
  assert.deepEqual(given.requests, ['apply Service orders uid u1', 'apply Service orders uid u1 version 7']);
});

test('what is true, accepted, left or ignored costs no request', async () => {
  const given = new Given();
  const outcome = await given.carryOut([
    { kind: 'keep', stated: role },
    { kind: 'accept', stated: service, live: live(service) },
    { kind: 'leave', stated: readOnly, live: live(readOnly), drifts: gone },
    { kind: 'ignore', child: accepted(secret), live: live(secret) },
  ]);
  assert.deepEqual(given.requests, []);
  assert.deepEqual([outcome.made, [...outcome.left]], [[role.key, service.key], [[readOnly.key, gone]]]);
  assert.equal(given.children.get(readOnly.key)?.accepted?.isDrifted, true);
});

test('a name that turns out to be taken is not taken over, and its holder is named', async () => {
  const person = live(service, { metadata: { labels: {}, ownerReferences: [] }, managedFields: [] });
  const given = new Given(conflict, person);
  const outcome = await given.carryOut([create(service), create(readOnly)]);
  assert.deepEqual(given.requests, ['apply Service orders version 1', 'get Service orders']);
  assert.equal(outcome.blocker?.reason, 'NameTaken');
  assert.match(
    outcome.blocker?.message ?? '',
    /^Service orders is needed and belongs to somebody who is not Plumbline/,
  );
  assert.deepEqual([outcome.blocker?.next.kind, outcome.awaited], ['look-again', [service.key]]);
});

test('a name that another database has is waited for, not asked for', async () => {
  const given = new Given();
  const action: Action = { kind: 'refuse', stated: service, holder: 'DatabaseService or', drifts: [], isWatched: true };
  const outcome = await given.carryOut([action]);
  assert.deepEqual([outcome.blocker?.next.kind, outcome.awaited, given.requests], ['wait', [service.key], []]);
});

test('an object that had only lost its label gets it back, and the loss is told', async () => {
  const name = 'plumbline.dev/database';
  const found = disowned(changed(live(service), ['metadata', 'labels', name], undefined), [
    'f:metadata',
    'f:labels',
    `f:${name}`,
  ]);
  const given = new Given(conflict, found, live(service));
  const { corrected } = await given.carryOut([create(service, gone)]);
  assert.deepEqual(given.requests, [
    'apply Service orders version 1',
    'get Service orders',
    `apply Service orders uid ${found.metadata.uid} version 100`,
  ]);
  assert.deepEqual(
    corrected.map(({ field }) => field),
    ['metadata.labels[plumbline.dev/database]'],
  );
});

test('a Secret is created by POST, with data, and its owner is applied after it', async () => {
  const dropped = resource({ storage: { size: '1Gi', onDelete: 'Delete' } });
  const owned = statedOf(dropped, 'Secret/orders-system');
  const given = new Given((body) => ({ ...body, metadata: { ...body.metadata, uid: 'new', resourceVersion: '5' } }));
  await given.carryOut([create(owned)], observed(dropped, []));
  assert.deepEqual(given.requests, ['create Secret orders-system', 'apply Secret orders-system uid new version 5']);
  const [created, applied] = given.bodies;
  assert.deepEqual(Object.keys(created?.['data'] ?? {}).sort(), ['replication', 'restapi', 'rewind', 'superuser']);
  assert.equal(created?.metadata.ownerReferences, undefined);
  assert.equal(applied?.['data'], undefined);
});

test('a Secret that is gone is not made again; one that had only lost its label is given it', async () => {
  const lost = new Given(missing);
  const { blocker } = await lost.carryOut([{ kind: 'miss', stated: secret }]);
  assert.deepEqual([blocker?.reason, lost.requests], ['CredentialsMissing', ['get Secret orders-system']]);
  const manager = { manager: 'plumbline-credentials', operation: 'Update' } as const;
  const unlabelled = live(secret, { metadata: { labels: {} }, managedFields: [manager] });
  const found = new Given(unlabelled);
  const outcome = await found.carryOut([{ kind: 'miss', stated: secret }]);
  assert.deepEqual(found.requests, [
    'get Secret orders-system',
    `apply Secret orders-system uid ${unlabelled.metadata.uid} version 100`,
  ]);
  assert.deepEqual([outcome.blocker, outcome.made], [undefined, [secret.key]]);
});

test('a missing Secret that a person puts back without our labels is taken, and its data is not touched', async () => {
  const given = new Given(live(secret, { metadata: { labels: {} }, managedFields: [] }));
  const { blocker, made } = await given.carryOut([{ kind: 'miss', stated: secret }]);
  assert.deepEqual([blocker, made], [undefined, [secret.key]]);
  assert.equal(given.bodies[0]?.['data'], undefined);
});

test("a person's own Secret under the name of a new database is left alone", async () => {
  const given = new Given(exists, live(secret, { metadata: { labels: {} }, managedFields: [] }));
  const { blocker } = await given.carryOut([create(secret)]);
  assert.equal(blocker?.reason, 'NameTaken');
});

test('what somebody deleted under drift.policy Report is looked for, and left', async () => {
  const given = new Given(missing);
  const outcome = await given.carryOut([{ kind: 'lack', stated: service, drifts: gone }]);
  assert.deepEqual([given.requests, [...outcome.left]], [['get Service orders'], [[service.key, gone]]]);
});

test('after what is blocked nothing new is made, but what was there before is still repaired', async () => {
  const given = new Given(quota);
  const outcome = await given.carryOut([
    create(role),
    create(readOnly),
    apply(secret),
    apply(service, true),
    { kind: 'remove', child: accepted(readOnly) },
  ]);
  assert.deepEqual(given.requests, ['apply Role orders-members version 1', 'apply Service orders uid u1 version 7']);
  assert.deepEqual([outcome.blocker?.reason, outcome.made], ['QuotaExceeded', [service.key]]);
});

test('what could not be put back is left, with what somebody did; what is outdated is not', async () => {
  const refused = await new Given(quota).carryOut([apply(service, true)]);
  assert.deepEqual([...refused.left, ...refused.refused], [[service.key, gone], service.key]);
  assert.deepEqual([refused.blocker?.reason, refused.corrected, refused.made], ['QuotaExceeded', [], []]);
  const remade = await new Given(quota).carryOut([create(readOnly, gone)]);
  assert.deepEqual([...remade.refused], [readOnly.key]);
  const unknown = await new Given(conflict, conflict).carryOut([apply(service, true)]);
  assert.deepEqual([unknown.left.size, unknown.refused.size], [0, 0]);
});

test('a server that does not answer is not asked for the rest', async () => {
  const given = new Given(busy);
  const outcome = await given.carryOut([create(role), apply(service, true)]);
  assert.deepEqual([given.requests.length, outcome.blocker?.next.kind], [1, 'retry']);
});

const outdated: readonly (readonly [string, Error])[] = [
  ['is gone', failure({ status: 409, message: 'uid mismatch: ... no existing object' })],
  ['was replaced', failure({ status: 422, details: { causes: [{ field: 'metadata.uid' }] } })],
];
for (const [what, error] of outdated) {
  test(`an object that ${what} is no hindrance: it is looked at again`, async () => {
    const outcome = await new Given(error).carryOut([apply(service), create(role)]);
    assert.deepEqual([outcome.blocker, outcome.outdated, outcome.made], [undefined, error, []]);
  });
}

test('a name that is taken and free again at the next look is looked at again', async () => {
  const outcome = await new Given(exists, missing).carryOut([create(service)]);
  assert.deepEqual([outcome.outdated, outcome.blocker], [exists, undefined]);
});

test('a dry run tells whether somebody else changes what we apply; then nothing is applied', async () => {
  const mutated = live(service, { fields: { spec: { type: 'ClusterIP' } } });
  const answered = { ...mutated, metadata: { ...mutated.metadata, managedFields: [] } };
  const given = new Given(answered);
  const outcome = await given.carryOut([{ kind: 'verify', stated: service, live: mutated }]);
  assert.deepEqual(given.requests, [`apply dry Service orders uid ${mutated.metadata.uid}`]);
  assert.deepEqual(outcome.made, [service.key]);
});

test('where a dry run would change something, it is applied', async () => {
  const before = live(service, { fields: { spec: {} } });
  const given = new Given(live(service));
  await given.carryOut([{ kind: 'verify', stated: service, live: before }]);
  const uid = before.metadata.uid;
  assert.deepEqual(given.requests, [
    `apply dry Service orders uid ${uid}`,
    `apply Service orders uid ${uid} version 100`,
  ]);
});

test('what is no longer stated is deleted, that very object as it was seen', async () => {
  const given = new Given();
  await given.carryOut([{ kind: 'remove', child: accepted(service) }]);
  assert.deepEqual(given.requests, ['delete Service orders uid uid-Service version 100']);
});

test('what is to be deleted and is gone already is no hindrance', async () => {
  const outcome = await new Given(missing).carryOut([{ kind: 'remove', child: accepted(service) }]);
  assert.deepEqual([outcome.blocker, outcome.outdated], [undefined, undefined]);
});

test('what is being deleted is waited for', async () => {
  const outcome = await new Given().carryOut([{ kind: 'await', stated: service }, create(readOnly)]);
  assert.deepEqual([outcome.blocker?.reason, outcome.awaited, outcome.made], ['DeletionPending', [service.key], []]);
});

test('an abort ends it at once', async () => {
  const stop = AbortSignal.abort(new Error('the lease is lost'));
  const children = new Children(() => undefined);
  const delivery = new ClusterDelivery({} as Kube, children, systemClock);
  await assert.rejects(delivery.carryOut([create(service)], observed(orders, []), stop), /the lease is lost/);
});
