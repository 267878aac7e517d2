import type { Report } from './report.ts';
import type { Workspace } from './workspace.ts';

/** Something that goes on until somebody ends it. */
export interface Going {
  end(): Promise<void>;
  /** Lets it go on when this process ends. Defaults to nothing. */
  release?(): Promise<void>;
  /** Commands by which a person looks at it. */
  readonly look: readonly string[];
  /** Commands by which a person ends it. */
  readonly stop: readonly string[];
}

/** What the quickstart has started so far: it ends all of it, the newest first, or tells how a person does. */
export class Started {
  readonly #report: Report;
  readonly #workspace: Workspace;
  readonly #all: Going[] = [];

  constructor(report: Report, workspace: Workspace) {
    this.#report = report;
    this.#workspace = workspace;
  }

  /** To be called before the first trace of it is left. */
  add(going: Going): void {
    this.#all.unshift(going);
  }

  async end(): Promise<void> {
    if (this.#all.length > 0) {
      this.#report.step('Everything that was started is ended');
      if (await this.#each((going) => going.end())) this.#report.done('nothing is left running');
    }
    this.#workspace.remove();
  }

  /** With nothing that could go on, ends. */
  async keep(): Promise<void> {
    if (this.#all.length === 0) return this.end();
    await this.#each(async (going) => going.release?.());
    const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join('');
    const look = this.#all.flatMap((going) => going.look);
    const stop = [...this.#all.flatMap((going) => going.stop), `rm -r ${this.#workspace.folder}`];
    this.#report.say(
      `\nEverything is left running. To look at it:\n${indented(look)}To end it:\n${indented(stop)}`.trimEnd(),
    );
  }

  /** One that cannot be ended holds up no other. @returns whether all of it went well */
  async #each(act: (going: Going) => Promise<void>): Promise<boolean> {
    let isClean = true;
    for (const going of this.#all) {
      await act(going).catch((error: unknown) => {
        isClean = false;
        this.#report.fact(`not ended cleanly: ${messageOf(error)}`);
      });
    }
    return isClean;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
