import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { git } from '../quickstart/git.ts';
import { project, run, TemporaryFolder } from './command.ts';

const spec = `apiVersion: plumbline.dev/v1alpha1
kind: DatabaseService
metadata: {name: orders, namespace: shop}
spec:
  engine: postgresql
  version: "17"
  replicas: 2
  storage: {size: 10Gi}
`;

interface Step {
  readonly name?: string;
  readonly run?: string;
}
const read = (name: string): unknown => parse(readFileSync(join(project, 'docs/ci', name), 'utf8'));
const gitHub = read('github-actions.yml') as {
  readonly jobs: { readonly review: { readonly steps: readonly Step[] } };
};
const gitLab = read('gitlab-ci.yml') as { readonly databases: { readonly script: readonly string[] } };

/** A repository of somebody who has committed databases and what they render; Plumbline is in it. */
class Repository implements Disposable {
  readonly #folder = new TemporaryFolder();

  static async create(): Promise<Repository> {
    const repository = new Repository();
    mkdirSync(repository.in('databases'));
    writeFileSync(repository.in('databases', 'orders.yaml'), spec);
    symlinkSync(project, repository.in('plumbline'));
    writeFileSync(repository.in('.gitignore'), '/plumbline\nreview.md\nsummary.md\n');
    await repository.git('init', '--quiet', '--initial-branch=main');
    await repository.synth();
    await repository.commit();
    await repository.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    return repository;
  }

  in(...names: readonly string[]): string {
    return this.#folder.in(...names);
  }

  git(...args: readonly string[]): Promise<string> {
    return git(this.#folder.path, '-c', 'user.name=Some Body', '-c', 'user.email=somebody@example.org', ...args);
  }

  async commit(): Promise<void> {
    await this.git('add', '--all');
    await this.git('commit', '--quiet', '--message', 'Change');
  }

  async synth(): Promise<void> {
    const args = ['constructs/synth.ts', '--specs', this.in('databases'), '--output', this.in('dist')];
    const { code, stderr } = await run(process.execPath, args);
    assert.equal(code, 0, stderr);
  }

  change(from: string, to: string): void {
    writeFileSync(this.in('databases', 'orders.yaml'), spec.replace(from, to));
  }

  /** Runs a script as the runner of a CI does. */
  script(text: string, env: NodeJS.ProcessEnv) {
    return run('bash', ['-e', '-o', 'pipefail', '-c', text], { cwd: this.#folder.path, env });
  }

  review(...args: readonly string[]) {
    const folders = ['--specs', this.in('databases'), '--output', this.in('dist')];
    return run(process.execPath, ['constructs/review.ts', ...folders, ...args]);
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

interface Pipeline {
  readonly name: string;
  readonly review: (repository: Repository) => ReturnType<Repository['script']>;
  readonly summaryIn: string;
}

const pipelines: readonly Pipeline[] = [
  {
    name: 'GitHub Actions',
    review: (repository) => {
      const step = gitHub.jobs.review.steps.find(({ name }) => name === 'Review');
      return repository.script(step?.run ?? '', {
        GITHUB_BASE_REF: 'main',
        GITHUB_STEP_SUMMARY: repository.in('summary.md'),
      });
    },
    summaryIn: 'summary.md',
  },
  {
    name: 'GitLab CI',
    review: async (repository) => {
      const CI_MERGE_REQUEST_DIFF_BASE_SHA = await repository.git('rev-parse', 'origin/main');
      return repository.script(gitLab.databases.script.join('\n'), { CI_MERGE_REQUEST_DIFF_BASE_SHA });
    },
    summaryIn: 'review.md',
  },
];

for (const { name, review, summaryIn } of pipelines) {
  describe(`the example for ${name}`, () => {
    test('a change with its manifests passes, and its summary is readable', async () => {
      using repository = await Repository.create();
      repository.change('replicas: 2', 'replicas: 3');
      await repository.synth();
      await repository.commit();
      const { code, stderr } = await review(repository);
      assert.equal(code, 0, stderr);
      const summary = readFileSync(repository.in(summaryIn), 'utf8');
      assert.equal(summary, '### shop/orders changes\n\n- StatefulSet orders: `spec.replicas` from `2` to `3`\n');
    });

    test('a change without its manifests fails, and says which are stale and what to do', async () => {
      using repository = await Repository.create();
      repository.change('replicas: 2', 'replicas: 3');
      await repository.commit();
      const { code, stderr } = await review(repository);
      assert.notEqual(code, 0);
      assert.match(stderr, /^stale: .*dist\/databases\/shop\/orders\/statefulset\.orders\.yaml$/m);
      assert.match(stderr, /^Run npm run synth with the same folders, and commit what it writes\.$/m);
      assert.match(readFileSync(repository.in(summaryIn), 'utf8'), /`spec\.replicas` from `2` to `3`/);
    });

    test('a wrong spec fails with file and line', async () => {
      using repository = await Repository.create();
      repository.change('"17"', '17');
      await repository.commit();
      const { code, stderr } = await review(repository);
      assert.notEqual(code, 0);
      assert.match(stderr, /orders\.yaml:6: spec\.version: 17 must be text; write it in quotes: "17"/);
    });
  });
}

describe('npm run review', () => {
  test('without a base it only checks, and changes nothing', async () => {
    using repository = await Repository.create();
    const { code, stdout } = await repository.review();
    assert.deepEqual([code, stdout], [0, '']);
    assert.equal(await repository.git('status', '--porcelain'), '');
  });

  test('a file of nobody in dist/, an edited one and a missing one are stale', async () => {
    using repository = await Repository.create();
    const folder = ['dist', 'databases', 'shop', 'orders'] as const;
    writeFileSync(repository.in(...folder, 'extra.yaml'), 'a: 1\n');
    writeFileSync(repository.in(...folder, 'service.orders.yaml'), 'a: 1\n');
    rmSync(repository.in(...folder, 'role.orders-members.yaml'));
    const { code, stderr } = await repository.review();
    assert.equal(code, 1);
    const stale = [...stderr.matchAll(/^stale: .*\/(\S+)$/gm)].map(([, name]) => name);
    assert.deepEqual(stale, ['extra.yaml', 'role.orders-members.yaml', 'service.orders.yaml']);
  });

  test('a base that has nothing rendered yet shows every database as new', async () => {
    using repository = await Repository.create();
    renameSync(repository.in('dist'), repository.in('kept'));
    await repository.commit();
    await repository.git('tag', 'empty');
    renameSync(repository.in('kept'), repository.in('dist'));
    const { code, stdout } = await repository.review('--base', 'empty');
    assert.equal(code, 0);
    assert.match(stdout, /^### shop\/orders is new: 11 objects$/m);
  });

  for (const base of ['nowhere', '--upload-pack=x']) {
    test(`a base that git does not know, ${base}, is an error in one line`, async () => {
      using repository = await Repository.create();
      const { code, stderr } = await repository.review(`--base=${base}`);
      assert.equal(code, 1);
      assert.match(stderr.trim().split('\n').at(-1) ?? '', new RegExp(`^git has no commit ${base}`));
    });
  }

  for (const [what, flag, says] of [
    ['an unknown flag', '--no-such-flag', /^Unknown option '--no-such-flag'/],
    ['a folder without a name', '--specs=', /^--specs names no folder$/m],
  ] as const) {
    test(`${what} is wrong usage`, async () => {
      const { code, stdout, stderr } = await run(process.execPath, ['constructs/review.ts', flag]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, says);
      assert.match(stderr, /--base REVISION/);
    });
  }

  test('--help is help', async () => {
    const { code, stdout, stderr } = await run(process.execPath, ['constructs/review.ts', '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /--base REVISION/);
  });
});
