import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is, or why the tests that need it cannot run here: for the `skip` of a test. */
export type Installed = { readonly path: string } | { readonly skip: string };

/** Finds a program; on Debian, as root, installs the package that has it. */
export function installed(program: string, packageName: string): Installed {
  const found = find(program) ?? (installPackage(packageName) ? find(program) : undefined);
  return found ? { path: found } : { skip: `${program} is not installed: apt-get install ${packageName}` };
}

function find(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...postgresqlFolders(), '/usr/sbin'];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

/** Debian keeps the server's programs out of PATH; the newest version first. */
function postgresqlFolders(): readonly string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || !isExecutable('/usr/bin/apt-get')) return false;
  process.stderr.write(`Installing ${name} …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], { env });
  if (install().status === 0) return true;
  spawnSync('apt-get', ['update', '-qq'], { env });
  return install().status === 0;
}
