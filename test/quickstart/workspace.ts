import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'plumbline-quickstart-';
const ownerFile = 'owner';
/** Whoever makes a folder notes its owner at once. One without an owner that is so old is nobody's. */
const unownedMs = 24 * 3_600_000;

/** A temporary folder for everything that the quickstart writes. */
export class Workspace {
  readonly folder: string;

  /** Removes the folders of runs that were killed first. */
  constructor() {
    for (const name of readdirSync(tmpdir())) {
      const folder = join(tmpdir(), name);
      if (name.startsWith(prefix) && isStale(folder)) rmSync(folder, { recursive: true, force: true });
    }
    this.folder = mkdtempSync(join(tmpdir(), prefix));
    this.giveTo(process.pid);
  }

  /** Names the process with whose end nobody needs the folder any more. */
  giveTo(pid: number): void {
    writeFileSync(join(this.folder, ownerFile), `${pid}\n${hostname()}`);
  }

  /** A new folder in it. */
  sub(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** A folder of another user, or of another host or container that shares this disk, is left alone. */
function isStale(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.getuid?.()) return false;
  const [pid, host] = ownerOf(folder);
  if (host === undefined) return Date.now() - stats.mtimeMs > unownedMs;
  return host === hostname() && !isRunning(Number(pid));
}

function ownerOf(folder: string): readonly string[] {
  try {
    return readFileSync(join(folder, ownerFile), 'utf8').split('\n');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
