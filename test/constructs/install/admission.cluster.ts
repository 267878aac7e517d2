import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiFiles } from '../../../constructs/install/files.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import { newNamespace, sharedCluster, type Cluster } from '../../cluster/index.ts';
import { databaseService, eventually } from '../../controller/running-plumbline.ts';
import { kubectl } from './installed.ts';
import { patience } from '../../patience.ts';

const manifests = apiFiles().map(([, manifest]) => manifest);
const definition = 'databaseservices.plumbline.dev';

let cluster: Cluster;
let namespace: string;
describe('admission', () => {
  before(async () => {
    cluster = await sharedCluster();
    namespace = await newNamespace(cluster);
    await apply(...manifests);
    // A policy is in force a moment after it was made.
    await create('probe', { version: '14', deletionProtection: true });
    await eventually('all policies are in force', async () => {
      const [warned, kept, crd] = [
        await run(['annotate', '--overwrite', 'dbs/probe', `probe=${Date.now()}`]),
        await run(['delete', 'dbs/probe', '--dry-run=server']),
        await run(['delete', 'crd', definition, '--dry-run=server']),
      ];
      return (/Warning/.test(warned.stderr) && kept.code !== 0 && crd.code !== 0) || undefined;
    });
  });
  after(async () => {
    // Others that share the cluster are to find it as it was.
    const policies = manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition');
    await kubectl(cluster, ['delete', '--ignore-not-found', '-f', '-'], documents(policies));
  });

  test('the API server finds nothing wrong with the expressions of any policy', async () => {
    const names = manifests
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map(({ metadata }) => metadata.name);
    assert.equal(names.length, 3);
    for (const name of names) {
      const checked = await eventually('its types are checked', async () => {
        const { status } = JSON.parse(
          await kubectl(cluster, ['get', 'validatingadmissionpolicy', name, '-o', 'json']),
        ) as {
          readonly status?: { readonly typeChecking?: { readonly expressionWarnings?: readonly object[] } };
        };
        return status?.typeChecking;
      });
      assert.deepEqual(checked.expressionWarnings ?? [], [], name);
    }
  });

  test('a protected database is not deleted, by its name, in a list or with all others, and says what to do', async () => {
    await create('precious', { deletionProtection: true });
    await create('other', {});
    for (const args of [['dbs/precious'], ['dbs', 'precious', 'other'], ['dbs', '--all'], ['-f', '-']]) {
      const stdin = args[0] === '-f' ? JSON.stringify(databaseService(namespace, 'precious')) : undefined;
      const { code, stderr } = await run(['delete', '--wait=false', ...args], stdin);
      assert.notEqual(code, 0);
      assert.match(stderr, /precious.*spec\.deletionProtection is true: set it to false first, then delete/);
    }
    const raw = await run(['delete', `--raw=/apis/plumbline.dev/v1alpha1/namespaces/${namespace}/databaseservices`]);
    assert.notEqual(raw.code, 0, 'a deletion of the collection is refused too');
    assert.equal((await run(['get', 'dbs/precious'])).code, 0);
    assert.notEqual((await run(['get', 'dbs/other'])).code, 0, 'the one that is not protected has gone');
  });

  test('without protection, or once it is taken away, it is deleted', async () => {
    for (const spec of [{}, { deletionProtection: false }, { deletionProtection: true }]) {
      await create('plain', spec);
      if (spec.deletionProtection)
        await run(['patch', 'dbs/plain', '--type=merge', '-p', '{"spec":{"deletionProtection":false}}']);
      const { code, stderr } = await run(['delete', 'dbs/plain']);
      assert.equal(code, 0, stderr);
    }
  });

  test('a protected database may leave what it owns behind, and then run on', async () => {
    await create('left', { deletionProtection: true });
    const { code, stderr } = await run(['delete', 'dbs/left', '--cascade=orphan', patience]);
    assert.equal(code, 0, stderr);
  });

  test('a namespace with a protected database can be deleted, and comes to its end', async () => {
    const ending = await newNamespace(cluster);
    const object = databaseService(ending, 'precious', { deletionProtection: true });
    await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(object));
    const { code, stderr } = await cluster.kubectlRun(['delete', 'namespace', ending, patience]);
    assert.equal(code, 0, stderr);
  });

  test('a protected database whose owner is deleted goes with it', async () => {
    await run(['create', 'configmap', 'owner']);
    const uid = (await run(['get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}'])).stdout;
    const object = databaseService(namespace, 'owned', { deletionProtection: true });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await run(['create', '-f', '-'], JSON.stringify({ ...object, metadata: { ...object.metadata, ownerReferences } }));
    await run(['delete', 'configmap', 'owner']);
    await eventually('it is gone', async () => (await run(['get', 'dbs/owned'])).code !== 0 || undefined);
  });

  test('the definition is deleted by nobody, by its name or with all others, unless it is annotated for that', async () => {
    for (const which of [[definition], ['--all'], ['--selector=app.kubernetes.io/name=plumbline']]) {
      const { code, stderr } = await run(['delete', 'crd', '--dry-run=server', ...which]);
      assert.notEqual(code, 0);
      assert.match(
        stderr,
        /deletes every database.*kubectl annotate crd databaseservices\.plumbline\.dev plumbline\.dev\/delete-all-databases=true/,
      );
    }
    const url = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
    assert.notEqual((await run(['delete', `--raw=${url}`])).code, 0);

    const annotate = (value: string) =>
      kubectl(cluster, ['annotate', '--overwrite', 'crd', definition, `plumbline.dev/delete-all-databases${value}`]);
    await annotate('=yes');
    assert.notEqual((await run(['delete', 'crd', definition, '--dry-run=server'])).code, 0, 'true is the word');
    await annotate('=true');
    assert.equal((await run(['delete', 'crd', definition, '--dry-run=server'])).code, 0);
    await annotate('-');
  });

  test('the definition of others is none of our business', async () => {
    const other = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    await apply(other);
    await kubectl(cluster, ['delete', 'crd', 'things.example.com']);
  });

  test('of a major out of support everybody who creates or edits such a database is told, and it is done', async () => {
    const { stderr } = await create('old', { version: '14.23' });
    assert.match(stderr, /^Warning: .*PostgreSQL 14 is out of support .* 15 or newer$/m);
    const edited = await run(['patch', 'dbs/old', '--type=merge', '-p', '{"spec":{"replicas":2}}']);
    assert.equal(edited.code, 0);
    assert.match(edited.stderr, /PostgreSQL 14 is out of support/);
    assert.equal((await create('new', { version: '15' })).stderr, '');
  });

  test('applying the API again changes nothing', async () => {
    const versions = () =>
      kubectl(cluster, ['get', '-f', '-', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'], documents(manifests));
    const before = await versions();
    await apply(...manifests);
    assert.equal(await versions(), before);
  });
});

function documents(objects: readonly object[]): string {
  return objects.map((one) => JSON.stringify(one)).join('\n');
}

function apply(...objects: readonly Manifest[]): Promise<string> {
  return kubectl(cluster, ['apply', '--server-side', '-f', '-'], documents(objects));
}

function run(args: readonly string[], stdin?: string) {
  return cluster.kubectlRun(['-n', namespace, ...args], stdin);
}

async function create(name: string, spec: Readonly<Record<string, unknown>>) {
  const made = await run(['create', '-f', '-'], JSON.stringify(databaseService(namespace, name, spec)));
  assert.equal(made.code, 0, made.stderr);
  return made;
}
