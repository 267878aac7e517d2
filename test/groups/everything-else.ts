import { before } from 'node:test';
import { importTests } from './import-tests.ts';

// No test begins before all are there: some change the environment of this process, which others read while they are imported.
const imported = Promise.withResolvers<void>();
before(() => imported.promise);

await importTests('**/*.test.ts');
await importTests('**/*.cluster.ts', (path) => !path.startsWith('postgresql/'));
await importTests('**/*.command.ts');
imported.resolve();
