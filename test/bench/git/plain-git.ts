import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf } from './fleet.ts';
import type { Grounds } from './grounds.ts';

/** The floor: what people do by hand, in a work tree, on the same server. */
export class PlainGit {
  readonly #grounds: Grounds;
  readonly #directory: string;

  private constructor(grounds: Grounds, directory: string) {
    this.#grounds = grounds;
    this.#directory = directory;
  }

  static async clone(grounds: Grounds, repository: string): Promise<PlainGit> {
    const directory = join(grounds.root, `${repository}-by-hand`);
    await grounds.git(grounds.root, 'clone', '--quiet', grounds.url(repository), directory);
    return new PlainGit(grounds, directory);
  }

  /** Milliseconds of `git add`, `git commit` and `git push`; the files are there already. */
  async change(indexes: readonly number[], version: number): Promise<number> {
    for (const index of indexes) {
      for (const [path, content] of filesOf(index, version)) writeFileSync(join(this.#directory, path), content);
    }
    const start = performance.now();
    await this.#git('add', '--all');
    await this.#git('commit', '--quiet', '--message', `Version ${version}`);
    await this.#git('push', '--quiet', 'origin', 'HEAD:main');
    return performance.now() - start;
  }

  #git(...args: string[]): Promise<string> {
    return this.#grounds.git(this.#directory, ...args);
  }
}
