import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { asFirst, endOfFirst, notFirst } from './first-process.ts';
import { Sandbox } from './sandbox.ts';
import { patienceMs } from '../../patience.ts';

const missing = process.platform === 'linux' ? false : 'needs Linux';

/** A supervisor whose Patroni is a shell script, and whose start gate is open, or ends with another code. */
function stage(patroni: string, gate = 0) {
  const sandbox = new Sandbox({ PGDATA: '/image', PATRONI_SCOPE: 'image', PG_VERSION: '17' });
  sandbox.secret('system', { restapi: 'x' });
  sandbox.write('bin/patroni', `#!/usr/bin/env bash\n${patroni}`, 0o755);
  const says = 'echo "gate: ${*: -1}" >>"$PLUMBLINE_RUN/events"';
  sandbox.write('bin/python3', `#!/usr/bin/env bash\n${says}\nexit ${gate}\n`, 0o755);
  const running = sandbox.start('bash', [sandbox.path('scripts/supervisor.sh')]);
  const ended = new Promise<number | null>((resolve) => void running.process.once('close', resolve));
  return { sandbox, running, ended };
}

function events(sandbox: Sandbox): readonly string[] {
  try {
    return readFileSync(sandbox.path('run/events'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(20)) if (isSo()) return;
  assert.fail(`not within ${patienceMs / 1000} s: ${what}`);
}

const count = (sandbox: Sandbox, event: string) => events(sandbox).filter((line) => line === event).length;

const stays = `trap 'echo stopped >>"$PLUMBLINE_RUN/events"; exit 0' TERM
trap 'echo reloaded >>"$PLUMBLINE_RUN/events"' HUP
echo $$ >"$PLUMBLINE_RUN/pid"
echo started >>"$PLUMBLINE_RUN/events"
while :; do sleep 0.1; done`;

test('Patroni that is killed starts again at once, after the start gate', { skip: missing }, async () => {
  const { sandbox, running } = stage(stays);
  using _ = sandbox;
  for (let round = 1; round <= 2; round += 1) {
    await until(() => count(sandbox, 'started') === round, `start ${round}`);
    process.kill(Number(readFileSync(sandbox.path('run/pid'), 'utf8')), 'SIGKILL');
  }
  await until(() => count(sandbox, 'started') === 3, 'the third start');
  assert.deepEqual(events(sandbox).slice(0, 4), ['gate: start', 'started', 'gate: start', 'started']);
  assert.match(running.output(), /Patroni ended with 137; it is started again/);
});

/** A process that the supervisor takes for PostgreSQL. */
function server(sandbox: Sandbox): ChildProcess {
  copyFileSync('/usr/bin/sleep', sandbox.path('bin/postgres'));
  const { process } = sandbox.start(sandbox.path('bin/postgres'), ['60']);
  sandbox.write('volume/pgdata/postmaster.pid', `${process.pid}\n`);
  return process;
}

test('a server that runs was let in before: nothing is asked for it again', { skip: missing }, async () => {
  const { sandbox } = stage(stays);
  using _ = sandbox;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  server(sandbox);
  process.kill(Number(readFileSync(sandbox.path('run/pid'), 'utf8')), 'SIGKILL');
  await until(() => count(sandbox, 'started') === 2, 'the second start');
  assert.deepEqual(events(sandbox), ['gate: start', 'started', 'gate: compose', 'started']);
});

test('Patroni is woken when the server dies, once', { skip: missing }, async () => {
  const { sandbox } = stage(stays);
  using _ = sandbox;
  const woken = () => events(sandbox).filter((line) => line.endsWith('/wake.py')).length;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  const { pid } = server(sandbox);
  await sleep(1500);
  assert.equal(woken(), 0);
  process.kill(Number(pid), 'SIGKILL');
  await until(() => woken() === 1, 'the call');
  await sleep(1500);
  assert.equal(woken(), 1);
});

/** The locks of a server, with the number of a process that is there. */
function locks(sandbox: Sandbox): readonly string[] {
  const files = ['volume/pgdata/postmaster.pid', 'socket/.s.PGSQL.5432.lock'];
  for (const file of files) sandbox.write(file, '1\n');
  return files.map((file) => sandbox.path(file));
}

test(
  'locks that a killed container left behind go, for their numbers are others’ now',
  { skip: notFirst },
  async () => {
    using sandbox = new Sandbox();
    const left = locks(sandbox);
    sandbox.write('bin/patroni', `#!/usr/bin/env bash\n${stays}`, 0o755);
    sandbox.write('bin/python3', '#!/usr/bin/env bash\nexit 0\n', 0o755);
    sandbox.start('unshare', [...asFirst, 'bash', sandbox.path('scripts/supervisor.sh')]);
    await until(() => count(sandbox, 'started') === 1, 'the start');
    assert.deepEqual(left.filter(existsSync), []);
  },
);

test(
  'they stay for as long as the start gate holds, for they may be of a container that runs',
  { skip: notFirst },
  async () => {
    using sandbox = new Sandbox();
    const left = locks(sandbox);
    sandbox.write(
      'bin/python3',
      '#!/usr/bin/env bash\necho "gate: ${*: -1}" >>"$PLUMBLINE_RUN/events"\nexit 1\n',
      0o755,
    );
    sandbox.start('unshare', [...asFirst, 'bash', sandbox.path('scripts/supervisor.sh')]);
    await until(() => count(sandbox, 'gate: start') >= 2, 'two tries');
    assert.deepEqual(left.filter(existsSync), left);
  },
);

test('locks stay where the supervisor is not the first process', { skip: missing }, async () => {
  using sandbox = new Sandbox();
  const left = locks(sandbox);
  sandbox.start('bash', [sandbox.path('scripts/supervisor.sh')]);
  await sleep(1000);
  assert.deepEqual(left.filter(existsSync), left);
});

test('TERM is passed on, and the container ends well when Patroni has ended', { skip: missing }, async () => {
  const { sandbox, running, ended } = stage(stays);
  using _ = sandbox;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  running.process.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.equal(count(sandbox, 'stopped'), 1);
  assert.equal(count(sandbox, 'started'), 1);
});

test('TERM that comes between the start gate and Patroni ends the container too', { skip: notFirst }, async () => {
  // GIVEN a step between them in which it comes
  using sandbox = new Sandbox();
  sandbox.write('bin/rm', '#!/usr/bin/env bash\nkill -TERM 1\nexec /usr/bin/rm "$@"\n', 0o755);
  sandbox.write('bin/patroni', `#!/usr/bin/env bash\n${stays}`, 0o755);
  sandbox.write('bin/python3', '#!/usr/bin/env bash\nexit 0\n', 0o755);
  assert.equal(await endOfFirst(sandbox, ['bash', sandbox.path('scripts/supervisor.sh')]), 0);
});

test(
  'where the pod is deleted, which the start gate says, nothing starts and the container ends',
  { skip: missing },
  async () => {
    const { sandbox, ended } = stage(stays, 3);
    using _ = sandbox;
    assert.equal(await ended, 0);
    assert.deepEqual(events(sandbox), ['gate: start']);
  },
);

test('Patroni that cannot live is tried again with pauses of at most 3 s', { skip: missing }, async () => {
  const { sandbox } = stage('echo started >>"$PLUMBLINE_RUN/events"; exit 1');
  using _ = sandbox;
  await until(() => count(sandbox, 'started') >= 3, 'two at once');
  await sleep(3000);
  const after = count(sandbox, 'started');
  assert.ok(after <= 7, `${after} starts in five seconds`);
  await until(() => count(sandbox, 'started') > after, 'another try');
});

test('what Patroni leaves running when it is killed is ended with it', { skip: missing }, async () => {
  const { sandbox } = stage(`echo $$ >"$PLUMBLINE_RUN/pid"
echo started >>"$PLUMBLINE_RUN/events"
bash -c 'while :; do echo cloning >>"$PLUMBLINE_RUN/clone-'$$'"; sleep 0.05; done' &
wait`);
  using _ = sandbox;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  const pid = Number(readFileSync(sandbox.path('run/pid'), 'utf8'));
  await until(() => existsSync(sandbox.path(`run/clone-${pid}`)), 'the clone');
  process.kill(pid, 'SIGKILL');
  await until(() => count(sandbox, 'started') === 2, 'the next start');
  const size = () => readFileSync(sandbox.path(`run/clone-${pid}`), 'utf8').length;
  const before = size();
  await sleep(400);
  assert.equal(size(), before);
});

test('a Secret that changes is composed anew and Patroni is told, without a restart', { skip: missing }, async () => {
  const { sandbox } = stage(stays);
  using _ = sandbox;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  await sleep(300);
  sandbox.secret('system', { restapi: 'y' });
  await until(() => count(sandbox, 'reloaded') === 1, 'the reload');
  assert.equal(count(sandbox, 'gate: compose'), 1);
  assert.equal(count(sandbox, 'started'), 1);
});

test('what the image sets for its own entry point does not reach Patroni', { skip: missing }, async () => {
  const { sandbox } = stage(`env >"$PLUMBLINE_RUN/env"; echo started >>"$PLUMBLINE_RUN/events"; sleep 30`);
  using _ = sandbox;
  await until(() => count(sandbox, 'started') === 1, 'the start');
  const variables = readFileSync(sandbox.path('run/env'), 'utf8');
  assert.doesNotMatch(variables, /^(PGDATA|PG_VERSION|PATRONI_)/m);
  assert.match(variables, /^PGPASSFILE=/m);
});
