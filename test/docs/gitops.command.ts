import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../constructs/manifest.ts';
import { installArgoDefinitions } from '../argocd/definitions.ts';
import { valueInArgoCd } from '../argocd/runner.ts';
import { Syncer } from '../argocd/syncer.ts';
import { startCluster, type Cluster } from '../cluster/index.ts';
import { project, run, TemporaryFolder } from '../commands/command.ts';
import { Remote } from '../controller/delivery/git/remote.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { endsWithUs } from '../ends-with-us.ts';
import { endGroup } from '../process-group.ts';

const text = readFileSync(join(project, 'docs/gitops.md'), 'utf8');
const blocks = [...text.matchAll(/^```sh( background)?\n(.*?)^```$/gms)].map(([, background, script = '']) => ({
  isBackground: background !== undefined,
  script,
}));

let cluster: Cluster;
let remote: Remote;
let folder: TemporaryFolder;
const background: ChildProcess[] = [];
before(async () => {
  // GIVEN a cluster with Argo CD's kinds, an empty repository and a working tree of it, with Plumbline in it
  cluster = await startCluster();
  await installArgoDefinitions(cluster);
  await kubectl('create', 'namespace', 'argocd');
  remote = new Remote();
  folder = new TemporaryFolder();
  mkdirSync(folder.in('bin'));
  symlinkSync(cluster.kubectl, folder.in('bin', 'kubectl'));
  remote.git('init', '--quiet', '--initial-branch=main', folder.in('work'));
  remote.git('-C', folder.in('work'), 'remote', 'add', 'origin', remote.url);
  symlinkSync(project, folder.in('work', 'plumbline'));
});
after(async () => {
  // What a controller still pushes is pushed by then.
  for (const { pid } of background) if (pid !== undefined) await endGroup(pid);
  await cluster.stop();
  remote.remove();
  folder[Symbol.dispose]();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectlRun(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

const environment = (): NodeJS.ProcessEnv => ({
  PATH: [folder.in('bin'), dirname(process.execPath), process.env['PATH']].join(':'),
  KUBECONFIG: cluster.kubeconfig,
  GIT_URL: remote.url,
  HOME: folder.path,
});

function start(script: string): void {
  const env = { ...process.env, ...environment() };
  const child = spawn('bash', ['-c', script], { cwd: folder.in('work'), env, stdio: 'ignore', detached: true });
  endsWithUs(child);
  background.push(child);
}

/** The Applications that Argo CD would make of the ApplicationSet, by the folders that the repository has. */
async function applications(): Promise<readonly Syncer[]> {
  const documents = parseAllDocuments(readFileSync(folder.in('work', 'argocd.yaml'), 'utf8'));
  const set = documents.map((document) => document.toJS() as Manifest).find(({ kind }) => kind === 'ApplicationSet');
  assert(set, 'an ApplicationSet is printed');
  const { generators, template } = set['spec'] as {
    readonly generators: readonly [{ readonly git: { readonly directories: readonly [{ readonly path: string }] } }];
    readonly template: { readonly metadata: { readonly name: string } };
  };
  const [{ path: pattern }] = generators[0].git.directories;
  const wanted = new RegExp(`^${pattern.replaceAll('*', '[^/]+')}$`);
  const folders = [...new Set(remote.files().map(dirname))].filter((path) => wanted.test(path)).sort();
  return Promise.all(
    folders.map(async (path) => {
      const object = { path: { path, segments: path.split('/') } };
      const name = String(await valueInArgoCd({ template: template.metadata.name, object }));
      return new Syncer({ cluster, url: remote.url, path, name });
    }),
  );
}

test('every command of the page works, one after the other, and Argo CD syncs three databases', async () => {
  // WHEN a reader types what the page says
  for (const { isBackground, script } of blocks) {
    if (isBackground) {
      start(script);
      continue;
    }
    const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder.in('work'),
      env: environment(),
    });
    assert.equal(code, 0, `${script}\n${stdout}${stderr}`);
  }

  // THEN Argo CD has an ApplicationSet that makes three Applications
  await kubectl('--namespace=argocd', 'get', 'applicationset/databases-prod', 'configmap/argocd-cm');
  const all = await applications();
  assert.deepEqual(
    all.map(({ name }) => name),
    ['prod.finance.ledger', 'prod.shop.carts', 'prod.shop.orders'],
  );
  // AND the change of the page is committed, and each database is there once it is synced
  await eventually('the last change is committed', () => /replicas: 2$/m.test(carts()) || undefined);
  for (const application of all) {
    using one = application;
    await one.sync();
    assert.deepEqual(await one.outOfSync(), []);
  }
  const found = await kubectl('get', 'statefulsets', '--all-namespaces', '--output=name');
  assert.deepEqual(
    found.trim().split('\n').sort(),
    ['carts', 'ledger', 'orders'].map((name) => `statefulset.apps/${name}`),
  );
  // AND the members find their Secrets
  const secrets = await kubectl('--namespace=shop', 'get', 'secrets', '--output=name');
  for (const name of ['orders-credentials', 'orders-system', 'orders-tls'])
    assert.match(secrets, new RegExp(`/${name}$`, 'm'));
});

function carts(): string {
  return remote.read('clusters/prod/shop/carts/statefulset.carts.yaml');
}
