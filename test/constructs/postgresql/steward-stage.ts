import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeApi } from './fake-api.ts';
import { orders } from './orders.ts';
import { freePort, RunningPostgres } from './running-postgres.ts';
import { Sandbox } from './sandbox.ts';
import { patienceMs } from '../../patience.ts';

export const nasty = `p@ss:w/o?r#d%41 '"\\$x{}`;
const database = orders({ database: 'Order-Data', username: 'app-user' });
export const passwords = { superuser: "su'per\\:", replication: 'Kq3#one', rewind: 'Kq3"two', restapi: 'Kq3 three' };

export interface Stage {
  readonly sandbox: Sandbox;
  readonly api: FakeApi;
  readonly postgres: RunningPostgres;
  readonly patroni: Patroni;
}

/** As much of Patroni's REST API as the steward asks. */
interface Patroni {
  /** Whether it holds the lock: 200 or 503. */
  status: number;
  /** Of its answers to a restart, the next first; 200 when there is none left. */
  readonly restarts: number[];
  /** What it was asked for. */
  readonly requests: string[];
}

const patroniSays = {
  state: 'running',
  pending_restart_reason: { max_connections: { old_value: '100', new_value: '200' } },
};

/** A primary without any role of ours, its Secrets, the API, and a Patroni that says whether it holds the lock. */
export async function stage(password = nasty, started: readonly string[] = []): Promise<Stage> {
  const sandbox = new Sandbox();
  const api = await FakeApi.start(sandbox);
  sandbox.onDispose(() => api[Symbol.dispose]());
  const postgres = await RunningPostgres.start(sandbox, started);
  const patroni: Patroni = { status: 200, restarts: [], requests: [] };
  const rest = await freePort();
  const listener = createServer(({ method, url }, response) => {
    patroni.requests.push(`${method} ${url}`);
    const status = url === '/restart' ? (patroni.restarts.shift() ?? 200) : patroni.status;
    response.writeHead(status).end(JSON.stringify(patroniSays));
  }).listen(rest, 'localhost');
  sandbox.onDispose(() => void listener.close());
  sandbox.member(database, { postgresql: postgres.port, rest });
  sandbox.secret('credentials', { password });
  sandbox.secret('system', passwords);
  api.put('pods/orders-0');
  api.put('persistentvolumeclaims/data-orders-0');
  return { sandbox, api, postgres, patroni };
}

/** Returns what it has said so far. @param script one that runs as a steward */
export function startSteward(sandbox: Sandbox, script = 'steward.py'): () => string {
  return sandbox.start('python3', ['-B', sandbox.path(`scripts/${script}`)]).output;
}

export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(50)) if (isSo()) return;
  assert.fail(`not within ${patienceMs / 1000} s: ${what}`);
}
