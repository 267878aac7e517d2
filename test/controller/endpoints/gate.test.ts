import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tokenGate, type Reviews, type User } from '../../../controller/endpoints/gate.ts';
import { KubeError } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const scraper: User = { username: 'system:serviceaccount:monitoring:prometheus', groups: ['system:authenticated'] };
const tried = { verb: 'create', kind: 'TokenReview', object: '' };

/** A cluster that knows two tokens, one of which may read. */
function setUp(reviews: Partial<Reviews> = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const errors: unknown[] = [];
  const gate = tokenGate({
    clock,
    path: '/metrics',
    onError: (error) => errors.push(error),
    reviews: {
      userOf: async (token) => {
        asked.push(`user ${token}`);
        if (token === 'right') return scraper;
        return token === 'poor' ? { username: 'poor' } : undefined;
      },
      mayRead: async ({ username = '' }, path) => {
        asked.push(`may ${username} ${path}`);
        return username === scraper.username;
      },
      ...reviews,
    },
  });
  return { clock, asked, errors, gate, statusOf: async (header?: string) => (await gate(header))?.status };
}

describe('the gate of the metrics', () => {
  test('a token whose user may get /metrics goes through, and the API server is asked once for a minute', async () => {
    const { gate, clock, asked } = setUp();
    assert.equal(await gate('Bearer right'), undefined);
    await clock.advance(59_999);
    assert.equal(await gate('bearer right'), undefined);
    assert.deepEqual(asked.splice(0), ['user right', `may ${scraper.username} /metrics`]);
    await clock.advance(1);
    assert.equal(await gate('Bearer right'), undefined);
    assert.equal(asked.length, 2);
  });

  test('no token, one of another kind and one that is none: 401, and only the last is asked for', async () => {
    const { asked, gate, statusOf } = setUp();
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer  ',
      'Basic cmlnaHQ=',
      'right',
      `Bearer ${'x'.repeat(20_000)}`,
    ])
      assert.equal(await statusOf(header), 401, header);
    assert.deepEqual(asked, []);
    assert.equal(await statusOf('Bearer wrong'), 401);
    assert.deepEqual(asked, ['user wrong']);
    assert.deepEqual((await gate(undefined))?.headers, { 'www-authenticate': 'Bearer' });
  });

  test('a user without the right: 403, asked again after ten seconds', async () => {
    const { clock, asked, statusOf } = setUp();
    assert.equal(await statusOf('Bearer poor'), 403);
    await clock.advance(9_999);
    assert.equal(await statusOf('Bearer poor'), 403);
    assert.equal(asked.length, 2);
    await clock.advance(1);
    assert.equal(await statusOf('Bearer poor'), 403);
    assert.equal(asked.length, 4);
  });

  const failures: readonly (readonly [what: string, error: KubeError, status: number])[] = [
    ['an API server that is away', new KubeError({ tried, message: 'connect', reason: 'NetworkError' }), 503],
    ['one that does not answer in time', new KubeError({ tried, message: 'slow', reason: 'ClientTimeout' }), 503],
    ['one that is overloaded', new KubeError({ tried, message: 'later', status: 429, reason: 'TooManyRequests' }), 503],
    ['a controller that may not ask', new KubeError({ tried, message: 'no', status: 403, reason: 'Forbidden' }), 500],
  ];
  for (const [what, error, status] of failures) {
    test(`${what}: ${status}, told, and asked again at once`, async () => {
      const { statusOf, errors, asked } = setUp({
        mayRead: () => {
          throw error;
        },
      });
      assert.equal(await statusOf('Bearer right'), status);
      assert.equal(await statusOf('Bearer right'), status);
      assert.deepEqual(errors, [error, error]);
      assert.equal(asked.length, 2);
    });
  }

  test('many scrapes with one token at once are one question', async () => {
    const { gate, asked } = setUp();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => gate('Bearer right')));
    assert(verdicts.every((verdict) => verdict === undefined));
    assert.equal(asked.length, 2);
  });

  test('whoever sends made-up tokens by the hundred takes no more than eight questions at a time', async () => {
    const never = Promise.withResolvers<undefined>();
    const { gate, asked, clock } = setUp({ userOf: () => never.promise });
    const waiting = Array.from({ length: 300 }, (_, index) => gate(`Bearer made-up-${index}`));
    await clock.settle();
    const refused = await Promise.all(waiting.slice(8));
    assert(refused.every((refusal) => refusal?.status === 503));
    never.resolve(undefined);
    const judged = await Promise.all(waiting.slice(0, 8));
    assert(judged.every((refusal) => refusal?.status === 401));
    assert.deepEqual(asked, []);
  });
});
