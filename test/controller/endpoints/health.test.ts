import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { checks, type Probed } from '../../../controller/checks.ts';
import { answering, listen } from '../../../controller/endpoints/endpoint.ts';
import { healthHandler } from '../../../controller/endpoints/health.ts';
import { ask } from './ask.ts';

const standby: Probed = {
  state: 'standby',
  unread: new Set(),
  workers: 8,
  busyWorkers: 0,
  busyForMs: 0,
  leader: 'other_1',
};

async function probe(path: string, probed: Probed | undefined): Promise<readonly [status: number, body: string]> {
  const fail = (error: unknown): never => assert.fail(String(error));
  const server = createServer(answering(healthHandler(checks(() => probed)), fail));
  await using endpoint = await listen(server, { host: '127.0.0.1', port: 0 }, '--health-address');
  const { status, body } = await ask(`http://127.0.0.1:${endpoint.port}${path}`);
  return [status, body];
}

const minute = 60_000;

const cases: readonly (readonly [
  what: string,
  path: string,
  probed: Probed | undefined,
  status: number,
  body: string,
])[] = [
  ['a standby with full caches is ready', '/readyz', standby, 200, 'ok'],
  ['so is the leader', '/readyz', { ...standby, state: 'leading' }, 200, 'ok'],
  [
    '?verbose tells each check, as kube-apiserver does',
    '/readyz?verbose',
    standby,
    200,
    '[+]ping ok\n[+]caches ok\n[+]lease ok\nreadyz check passed\n',
  ],
  [
    'while something is read it is not ready, and says what is missing',
    '/readyz',
    { ...standby, state: 'syncing', unread: new Set(['pods', 'services']), leader: '' },
    500,
    '[+]ping ok\n[-]caches failed: not read yet: pods, services\n[-]lease failed: nobody is known to hold the lease\nreadyz check failed\n',
  ],
  [
    'one that stops is not ready',
    '/readyz/caches',
    { ...standby, state: 'stopping' },
    500,
    '[-]caches failed: the controller is stopping\nreadyz check failed\n',
  ],
  [
    'between two leases it is not ready',
    '/readyz/caches',
    undefined,
    500,
    '[-]caches failed: not read yet\nreadyz check failed\n',
  ],
  ['… and healthy: a restart would not bring the lease sooner', '/healthz', undefined, 200, 'ok'],
  [
    'a check can be left out',
    '/readyz?exclude=lease&verbose=true',
    { ...standby, leader: '' },
    200,
    '[+]ping ok\n[+]caches ok\n[+]lease excluded: ok\nreadyz check passed\n',
  ],
  [
    'leaving out what there is not is told',
    '/healthz?verbose&exclude=etcd',
    standby,
    200,
    '[+]ping ok\n[+]workers ok\nwarn: some health checks cannot be excluded: no matches for "etcd"\nhealthz check passed\n',
  ],
  ['one check can be asked for alone', '/readyz/lease', standby, 200, 'ok'],
  ['a check that there is not', '/readyz/etcd', standby, 404, 'not found\n'],
  ['a path that there is not', '/livez', standby, 404, 'not found\n'],
  ['the root', '/', standby, 404, 'not found\n'],
  ['a name of every object is no path', '/constructor', standby, 404, 'not found\n'],
  ['a target with two slashes is a path, and no host', '//readyz', standby, 200, 'ok'],
  [
    'a worker that hangs holds up one database, which is no reason for a restart',
    '/healthz',
    { ...standby, busyWorkers: 7, busyForMs: 90 * minute },
    200,
    'ok',
  ],
  [
    'all of them busy for a while is work',
    '/healthz',
    { ...standby, busyWorkers: 8, busyForMs: 14 * minute },
    200,
    'ok',
  ],
  [
    'all of them busy with the same for a quarter of an hour means that nothing will go on by itself',
    '/healthz',
    { ...standby, busyWorkers: 8, busyForMs: 15 * minute },
    500,
    '[+]ping ok\n[-]workers failed: none of 8 has ended a run for 15 minutes\nhealthz check failed\n',
  ],
];

describe('probes', () => {
  for (const [what, path, probed, status, body] of cases) {
    test(`${what} (${path})`, async () => assert.deepEqual(await probe(path, probed), [status, body]));
  }
});
