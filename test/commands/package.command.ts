import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { project, run, TemporaryFolder } from './command.ts';
import { filesBelow } from './files-below.ts';

const program = `import { App, Chart } from 'cdk8s';
import { DatabaseService, DatabaseServiceApi, Installation, render, serialize, fileName, type DatabaseServiceSpec } from 'plumbline';

const spec: DatabaseServiceSpec = { engine: 'postgresql', version: '17', replicas: 3, storage: { size: '10Gi' } };
const app = new App();
const db = new DatabaseService(new Chart(app, 'orders'), 'db', { metadata: { name: 'orders', namespace: 'shop' }, spec });
new DatabaseServiceApi(new Chart(app, 'api'), 'api');
new Installation(new Chart(app, 'plumbline'), 'plumbline', { image: 'registry.example/plumbline:1', watchNamespaces: ['shop'] });
app.synth();
console.log(db.endpoints.readWrite, db.credentialsSecret);
for (const manifest of render({ apiVersion: 'plumbline.dev/v1alpha1', kind: 'DatabaseService', metadata: { name: 'orders', namespace: 'shop' }, spec })) {
  console.log(fileName(manifest), serialize(manifest).length);
}
`;

const wrong = `import { DatabaseService } from 'plumbline';
import { App, Chart } from 'cdk8s';
new DatabaseService(new Chart(new App(), 'c'), 'db', {
  metadata: { name: 'orders' },
  spec: { engine: 'postgresql', version: '17', storage: { size: '10Gi' }, parameters: { max_connections: 200 } },
});
`;

test('the package, installed into an empty project, compiles and synthesizes', async () => {
  using folder = new TemporaryFolder();
  // GIVEN the packed library in an empty project
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder.path]);
  assert.equal(packed.code, 0, packed.stderr);
  const [tarball = ''] = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'));
  writeFileSync(folder.in('package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  const installed = await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', folder.in(tarball)],
    { cwd: folder.path },
  );
  assert.equal(installed.code, 0, installed.stderr);
  writeFileSync(folder.in('main.ts'), program);
  writeFileSync(folder.in('wrong.ts'), wrong);
  const compiler = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['es2024', 'dom'],
  };
  const compile = async (file: string) => {
    writeFileSync(folder.in('tsconfig.json'), JSON.stringify({ compilerOptions: compiler, files: [file] }));
    return run(join(project, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder.path });
  };

  // WHEN it is compiled and run
  const compiled = await compile('main.ts');
  const ran = await run(process.execPath, ['main.ts'], { cwd: folder.path });
  const refused = await compile('wrong.ts');

  // THEN it has types, and writes manifests
  assert.equal(compiled.code, 0, compiled.stdout);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /^orders orders-credentials$/m);
  assert.match(ran.stdout, /^statefulset\.orders\.yaml \d+$/m);
  assert.match(filesBelow(folder.in('dist'))['orders.k8s.yaml'] ?? '', /kind: StatefulSet/);
  const written = filesBelow(folder.in('dist'));
  assert.match(written['api.k8s.yaml'] ?? '', /kind: CustomResourceDefinition[^]*kind: ValidatingAdmissionPolicy/);
  assert.match(
    written['plumbline.k8s.yaml'] ?? '',
    /^apiVersion: v1\nkind: Namespace[^]*image: registry.example\/plumbline:1/,
  );
  assert.notEqual(refused.code, 0, 'a number as a setting of PostgreSQL is refused by its type');
});
