import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder for everything that the quickstart writes. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'plumbline-quickstart-'));

  /** A new folder in it. */
  sub(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
