import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../constructs/manifest.ts';
import { run } from './command.ts';

const argocd = (...args: readonly string[]) => run(process.execPath, ['constructs/argocd/main.ts', ...args]);
const url = 'https://git.example/databases.git';

describe('npm run argocd', () => {
  test('prints the settings of Argo CD and an ApplicationSet, as the flags say', async () => {
    const flags = ['--url', url, '--branch', 'prod', '--cluster-name', 'eu', '--argo-namespace', 'gitops'];
    const { code, stdout } = await argocd(...flags, '--project', 'db', '--on-delete', 'Delete', '--no-self-heal');
    assert.equal(code, 0);
    const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    assert.deepEqual(
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
      ['ConfigMap gitops/argocd-cm', 'ApplicationSet gitops/databases-eu'],
    );
    for (const said of [
      'revision: refs/heads/prod',
      `repoURL: ${url}`,
      'path: clusters/eu/*/*',
      'project: db',
      'applicationsSync: sync',
      'selfHeal: false',
    ]) {
      assert.ok(stdout.includes(said), said);
    }
  });

  for (const [what, args, says] of [
    ['no repository', [], /^--url is missing$/m],
    ['an unknown flag', ['--no-such-flag'], /--no-such-flag/],
    ['another word for what is deleted', ['--url', url, '--on-delete', 'Maybe'], /^--on-delete is Retain or Delete$/m],
    ['a cluster that no name may have', ['--url', url, '--cluster-name', 'A'], /clusterName "A"/],
  ] as const) {
    test(`${what} is wrong usage: exit code 2, one line and the usage`, async () => {
      const { code, stdout, stderr } = await argocd(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, says);
      assert.match(stderr, /--cluster-name NAME/);
    });
  }
});
