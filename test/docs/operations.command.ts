import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchedKinds } from '../../controller/database/kinds.ts';
import { GitWriter } from '../../controller/delivery/git/writer.ts';
import { systemClock } from '../../controller/kube/index.ts';
import { newNamespace, prometheusOperatorCrds, startCluster } from '../cluster/index.ts';
import type { Ended } from '../commands/command.ts';
import { Remote } from '../controller/delivery/git/remote.ts';
import { databaseService, eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { patience } from '../patience.ts';
import { readPage, runInShell, shellCommands } from './shell.ts';

const page = readPage('operations.md');

/** Needs pods that run; the tests of the node wait for the Deployment. */
const isLeftOut = (command: string): boolean => command.includes('rollout status');

function givenRemote(): Remote & Disposable {
  const remote = new Remote();
  return Object.assign(remote, { [Symbol.dispose]: () => remote.remove() });
}

/** The commands for a shell that a section has, one a line. */
function commandsOf(section: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  const commands = shellCommands(own);
  assert(commands.length > 0, section);
  return commands.filter((command) => !isLeftOut(command));
}

test('the page of operations, followed on a cluster that has nothing but the kinds of the Prometheus operator', async () => {
  await using cluster = await startCluster({ crds: prometheusOperatorCrds() });
  const shell = (command: string): Promise<Ended> => runInShell(cluster, command);
  const follow = async (section: string): Promise<void> => {
    for (const command of commandsOf(section)) {
      const { code, stderr } = await shell(command);
      assert.equal(code, 0, `${command}: ${stderr}`);
    }
  };
  const isThere = async (what: string): Promise<boolean> => (await shell(`kubectl get ${what}`)).code === 0;
  const versions = async (): Promise<string> =>
    (
      await shell(
        "kubectl get -f dist/plumbline -f dist/plumbline-monitoring -o jsonpath='{.items[*].metadata.resourceVersion}'",
      )
    ).stdout;

  // WHEN it is installed and upgraded to the same release
  await follow('Install');
  await eventually(
    'the Deployment is observed',
    async () =>
      (await shell('kubectl -n plumbline-system get pods -o name')).stdout.split('pod/').length === 3 || undefined,
  );
  const before = await versions();
  await follow('Upgrade');

  // THEN nothing has changed
  assert.equal(await versions(), before);

  // GIVEN databases, one of them protected, and no controller any more
  const namespace = await newNamespace(cluster);
  using remote = givenRemote();
  const directory = join(remote.root, 'clone');
  const git = new GitWriter({ url: remote.url, branch: 'main', cluster: 'prod', directory, clock: systemClock });
  await using plumbline = await RunningPlumbline.start(cluster, { namespace, git });
  const names = ['orders', 'ledger'];
  const submit = async (): Promise<void> => {
    for (const name of names) {
      const object = databaseService(namespace, name, name === 'orders' ? { deletionProtection: true } : {});
      const made = await cluster.kubectlRun(['create', '-f', '-'], JSON.stringify(object));
      assert.equal(made.code, 0, made.stderr);
    }
  };
  await submit();
  for (const name of names)
    await eventually(
      `${name} is made`,
      async () => (await isThere(`-n ${namespace} statefulset ${name}`)) || undefined,
    );
  await eventually('they are in Git', () => remote.commits() > 0 || undefined);
  await plumbline.settled();
  await plumbline.stop();

  // WHEN Plumbline is uninstalled
  await follow('Uninstall');

  // THEN it is gone, and they are not
  assert(!(await isThere('namespace plumbline-system')));
  assert(!(await isThere('clusterrole plumbline-controller')));
  const monitors = 'podmonitors,prometheusrules,servicemonitors';
  assert.equal((await shell(`kubectl get --all-namespaces ${monitors} -o name`)).stdout, '');
  for (const name of names) assert(await isThere(`-n ${namespace} statefulset ${name}`), name);

  // WHEN its API is uninstalled too, as are the policies
  const uids = '-o jsonpath=\'{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid}{"\\n"}{end}\'';
  const kinds =
    'statefulsets,services,configmaps,secrets,roles,rolebindings,serviceaccounts,networkpolicies,pdb,pvc,pods';
  const objects = async (): Promise<string> => (await shell(`kubectl -n ${namespace} get ${kinds} ${uids}`)).stdout;
  const had = await objects();
  assert.match(had, /StatefulSet\/orders /);
  await follow('Uninstall the API too');

  // THEN everything that the databases had is still the same
  assert(!(await isThere('crd databaseservices.plumbline.dev')));
  assert(!(await isThere('validatingadmissionpolicy deletion-protection.plumbline.dev')));
  const owned = '-o jsonpath=\'{.items[*].metadata.ownerReferences[?(@.kind=="DatabaseService")].name}\'';
  assert.equal((await shell(`kubectl -n ${namespace} get ${kinds} ${owned}`)).stdout, '');
  assert.equal(await objects(), had);

  // WHEN it is installed again, and they are created again
  await follow('Install');
  await submit();
  {
    await using again = await RunningPlumbline.start(cluster, { namespace });
    for (const name of names) {
      const status = () => shell(`kubectl -n ${namespace} get dbs ${name} -o jsonpath={.status.phase}`);
      await eventually(`${name} is looked after`, async () => (await status()).stdout || undefined);
    }
    await again.settled();
  }

  // THEN they are what they were
  assert.equal(await objects(), had);

  // WHEN everything is to go
  const [first = ''] = commandsOf('Remove everything');
  const refused = await shell(first);
  assert.notEqual(refused.code, 0, 'one is protected');
  assert(await isThere(`-n ${namespace} statefulset orders`));
  await shell(`kubectl -n ${namespace} patch dbs orders --type=merge -p '{"spec":{"deletionProtection":false}}'`);
  await follow('Remove everything');

  // THEN what they had is gone, but for what holds or opens data, and the namespace can go
  await eventually(
    'no Service is left',
    async () => !(await shell(`kubectl -n ${namespace} get services -o name`)).stdout || undefined,
  );
  assert(!(await isThere('crd databaseservices.plumbline.dev')));
  assert(!(await isThere('validatingadmissionpolicy deletion-protection.plumbline.dev')));
  assert(await isThere(`-n ${namespace} secret orders-credentials`));
  const { code, stderr } = await shell(`kubectl delete namespace ${namespace} ${patience}`);
  assert.equal(code, 0, stderr);
});

test('the page names as many watches as there are', () => {
  assert(page.includes(`keeps ${watchedKinds.length + 1} watches open`));
});
