// Installs the pinned packages when they are missing or older than the lock file. Runs on the system's Node (20 or newer),
// before anything of the project can: so no import of a package, and no TypeScript.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
const ownNode = 'node_modules/.bin/node';
const isCurrent =
  existsSync(installed) && existsSync(ownNode) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;

if (!isCurrent) {
  // Not on standard output, which is that of the command that follows.
  console.error('Installing packages (npm ci) …');
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error'], { stdio: ['inherit', 2, 2] });
  if (status !== 0)
    fail(
      `npm ci failed${error ? `: ${error.message}` : ''}. Check that the npm registry can be reached and run the command again.`,
    );
}

const { stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8' });
if (!(stdout ?? '').startsWith('v24.')) {
  fail(
    `${ownNode} is not Node 24. Its package installs it by a script: switch npm's ignore-scripts off, remove node_modules and run the command again.`,
  );
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
