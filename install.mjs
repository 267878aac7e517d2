// Installs the pinned packages when they are missing or older than the lock file. Runs on the system's Node (20 or newer),
// before anything of the project can: so no import of a package, and no TypeScript.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
const isCurrent =
  existsSync(installed) &&
  existsSync('node_modules/.bin/node') &&
  statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;

if (!isCurrent) {
  console.log('Installing packages (npm ci) …');
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(
      `npm ci failed${error ? `: ${error.message}` : ''}. Check that the npm registry can be reached and run the command again.`,
    );
    process.exit(1);
  }
}
