import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { TemporaryFolder } from './commands/command.ts';
import { endGroup } from './process-group.ts';

const skip = process.platform === 'linux' ? false : 'needs Linux';

test('a group has ended when the last of it has, not when the first has', { skip }, async () => {
  // GIVEN a process that leaves at once another one behind, which takes its time to end
  using folder = new TemporaryFolder();
  const slow = `trap 'sleep 1; touch ${folder.in('done')}; exit' TERM; touch ${folder.in('ready')}; while :; do sleep 0.05; done`;
  const script = `bash -c "$1" & while ! test -e ${folder.in('ready')}; do sleep 0.05; done; kill -TERM $$`;
  const child = spawn('bash', ['-c', script, 'bash', slow], { stdio: 'ignore', detached: true });
  await once(child, 'close');
  assert(child.pid !== undefined && !existsSync(folder.in('done')));

  // THEN it is waited for
  await endGroup(child.pid);
  assert(existsSync(folder.in('done')));

  // AND a group that is gone is no failure
  await endGroup(child.pid);
});
