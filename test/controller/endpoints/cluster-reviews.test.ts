import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterReviews } from '../../../controller/endpoints/cluster-reviews.ts';
import { tokenGate } from '../../../controller/endpoints/gate.ts';
import { monotonicClock } from '../../../controller/kube/index.ts';
import { answer, withClient, type Script } from '../kube/scripted-server.ts';

const username = 'system:serviceaccount:monitoring:prometheus';
const user = { username, uid: 'u', groups: ['system:authenticated'], extra: { 'example.org/key': ['a'] } };

/** A server that answers both questions, and what the gate makes of that. */
async function judged(script: Script, isThere = true): Promise<readonly [unknown, readonly unknown[], string]> {
  const errors: unknown[] = [];
  const bodies: unknown[] = [];
  let status: unknown;
  await withClient(script, async (kube, server) => {
    if (!isThere) await server.stopListening();
    const onError = (error: unknown): void => void errors.push(error);
    const gate = tokenGate({ reviews: clusterReviews(kube), path: '/metrics', clock: monotonicClock, onError });
    status = (await gate('Bearer a-token-of-somebody'))?.status;
    bodies.push(...server.requests.map(({ method, url, body }) => [method, url.pathname, JSON.parse(body)]));
  });
  return [status, bodies, errors.map(String).join('\n')];
}

const both =
  (token: object, access: object): Script =>
  ({ url }, response) =>
    answer(response, 201, { status: url.pathname.includes('tokenreviews') ? token : access });

describe('what the API server is asked about a token', () => {
  test('whose it is, and whether that one may get /metrics', async () => {
    const [status, bodies] = await judged(both({ authenticated: true, user }, { allowed: true }));
    assert.equal(status, undefined);
    const { username: name, ...rest } = user;
    assert.deepEqual(bodies, [
      [
        'POST',
        '/apis/authentication.k8s.io/v1/tokenreviews',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'a-token-of-somebody' } },
      ],
      [
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' }, user: name, ...rest },
        },
      ],
    ]);
  });

  test('an answer that says nothing lets nobody in', async () => {
    assert.equal((await judged(both({}, { allowed: true })))[0], 401);
    assert.equal((await judged(both({ authenticated: 'true', user }, { allowed: true })))[0], 401);
    assert.equal((await judged(both({ authenticated: true }, {})))[0], 403);
    assert.equal((await judged((_, response) => answer(response, 200, 'hello')))[0], 401);
  });

  test('one that is not there gives no verdict, and no error holds the token', async () => {
    const [status, , said] = await judged(() => undefined, false);
    assert.equal(status, 503);
    assert.match(said, /^ConnectionError|^KubeError/);
    assert(!said.includes('a-token-of-somebody'));
  });

  test('one that repeats the token in its refusal has it repeated to nobody', async () => {
    const message = 'TokenReview is invalid: spec.token: Invalid value: "a-token-of-somebody": it is no token';
    const refused: Script = (_, response) =>
      answer(response, 422, { kind: 'Status', status: 'Failure', reason: 'Invalid', message, code: 422 });
    const [status, , said] = await judged(refused);
    assert.equal(status, 500);
    assert.notEqual(said, '');
    assert(!said.includes('a-token-of-somebody'), said);
  });
});
