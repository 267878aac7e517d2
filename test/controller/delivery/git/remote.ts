import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { generated } from '../../../leaks/mark.ts';
import { discardFolder } from '../../../discard-folder.ts';

const person = 'user.name=Some Body';
const address = 'user.email=somebody@example.org';

/** A bare repository in a temporary folder, and a person who works on it too. */
export class Remote {
  readonly root = mkdtempSync(join(tmpdir(), 'plumbline-git-'));
  readonly path = join(this.root, 'remote.git');
  readonly #work = join(this.root, 'somebody');

  constructor() {
    this.git('init', '--quiet', '--bare', '--initial-branch=main', this.path);
  }

  get url(): string {
    return `file://${this.path}`;
  }

  /** @throws Error when a password was ever committed to it */
  remove(): void {
    const objects = this.#objects();
    discardFolder(this.root);
    if (generated.isIn(objects)) throw new Error('a password is in the repository');
  }

  /** Every commit, folder and file that anybody has pushed. */
  #objects(): Buffer {
    const args = ['--git-dir', this.path, 'cat-file', '--batch-all-objects', '--unordered', '--batch'];
    return execFileSync('git', args, { maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'inherit'] });
  }

  git(...args: string[]): string {
    const env = { PATH: process.env['PATH'], HOME: this.root, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
    return execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Commits as `git fast-import` reads them. */
  fastImport(stream: string): void {
    execFileSync('git', ['--git-dir', this.path, 'fast-import', '--quiet'], { input: stream });
  }

  inRemote(...args: string[]): string {
    return this.git('--git-dir', this.path, ...args).trim();
  }

  /** How many commits the branch has. */
  commits(branch = 'main'): number {
    const exists = this.inRemote('for-each-ref', `refs/heads/${branch}`) !== '';
    return exists ? Number(this.inRemote('rev-list', '--count', branch)) : 0;
  }

  files(branch = 'main'): string[] {
    return this.inRemote('ls-tree', '-r', '--name-only', branch).split('\n');
  }

  read(path: string, branch = 'main'): string {
    return this.git('--git-dir', this.path, 'show', `${branch}:${path}`);
  }

  message(branch = 'main'): string {
    return this.inRemote('log', '-1', '--format=%B', branch);
  }

  /** Somebody commits and pushes these files; a content of undefined removes, one with a target makes a link. */
  somebodyPushes(files: Record<string, string | undefined | { readonly target: string }>, branch = 'main'): void {
    discardFolder(this.#work);
    this.git('clone', '--quiet', this.path, this.#work);
    if (branch !== 'main') this.#inWork('checkout', '--quiet', branch);
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.#work, path);
      mkdirSync(dirname(file), { recursive: true });
      rmSync(file, { recursive: true, force: true });
      if (typeof content === 'string') writeFileSync(file, content);
      else if (content !== undefined) symlinkSync(content.target, file);
    }
    this.#inWork('add', '--all');
    this.#inWork('commit', '--quiet', '--message', 'By somebody');
    this.#inWork('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
  }

  /** Somebody brings a branch into main, as the button of a forge does; or main into a branch. @throws Error where they conflict */
  somebodyMerges(branch: string, how: 'merge' | 'squash' | 'rebase' = 'merge', into = 'main'): void {
    discardFolder(this.#work);
    this.git('clone', '--quiet', this.path, this.#work);
    if (into !== 'main') this.#inWork('checkout', '--quiet', into);
    switch (how) {
      case 'merge':
        this.#inWork('merge', '--quiet', '--no-ff', '--message', 'Merged by somebody', `origin/${branch}`);
        break;
      case 'squash':
        this.#inWork('merge', '--quiet', '--squash', `origin/${branch}`);
        this.#inWork('commit', '--quiet', '--message', 'Squashed by somebody');
        break;
      case 'rebase':
        this.#inWork('checkout', '--quiet', '--detach', `origin/${branch}`);
        this.#inWork('rebase', '--quiet', '--force-rebase', `origin/${into}`);
        break;
    }
    this.#inWork('push', '--quiet', 'origin', `HEAD:refs/heads/${into}`);
  }

  /** A commit that has what a branch has, and no history. */
  orphan(branch: string): string {
    const inRemote = ['-c', person, '-c', address, '--git-dir', this.path];
    return this.git(...inRemote, 'commit-tree', '-m', 'By somebody', `${branch}^{tree}`).trim();
  }

  #inWork(...args: string[]): void {
    this.git('-C', this.#work, '-c', person, '-c', address, ...args);
  }

  hook(name: string, script: string): void {
    const path = join(this.path, 'hooks', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }
}
