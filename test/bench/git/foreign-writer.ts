import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Grounds } from './grounds.ts';

const pauseMs = 1000;

/** Somebody who works on the same branch, in a folder of his own: a commit each second, rebased until it is taken. */
export class ForeignWriter {
  readonly #grounds: Grounds;
  readonly #name: string;
  readonly #directory: string;
  #pushed = 0;
  #retries = 0;

  constructor(grounds: Grounds, name: string) {
    this.#grounds = grounds;
    this.#name = name;
    this.#directory = join(grounds.root, name);
  }

  get retries(): number {
    return this.#retries;
  }

  /** Files that were pushed, by their paths in the repository. */
  get files(): readonly string[] {
    return Array.from({ length: this.#pushed }, (_, i) => this.#file(i));
  }

  async work(repository: string, until: () => boolean): Promise<void> {
    const { root } = this.#grounds;
    // He needs none of the databases' files.
    const sparse = ['--quiet', '--depth=1', '--sparse'];
    await this.#grounds.git(root, 'clone', ...sparse, this.#grounds.url(repository), this.#directory);
    mkdirSync(join(this.#directory, 'others', this.#name), { recursive: true });
    await this.#git('sparse-checkout', 'set', `others/${this.#name}`);
    mkdirSync(join(this.#directory, 'others', this.#name), { recursive: true });
    while (!until()) {
      writeFileSync(join(this.#directory, this.#file(this.#pushed)), `${this.#pushed}\n`);
      await this.#git('add', '--all');
      await this.#git('commit', '--quiet', '--message', `${this.#name} ${this.#pushed}`);
      while (!(await this.#push())) this.#retries++;
      this.#pushed++;
      await setTimeout(pauseMs);
    }
  }

  async #push(): Promise<boolean> {
    try {
      await this.#git('push', '--quiet', 'origin', 'HEAD:main');
      return true;
    } catch {
      await this.#git('pull', '--quiet', '--rebase', 'origin', 'main');
      return false;
    }
  }

  #file(index: number): string {
    return `others/${this.#name}/${index}.txt`;
  }

  #git(...args: string[]): Promise<string> {
    return this.#grounds.git(this.#directory, ...args);
  }
}
