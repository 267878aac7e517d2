import { importTests } from './import-tests.ts';

await importTests('**/*.test.ts');
await importTests('**/*.cluster.ts', (path) => !path.startsWith('postgresql/'));
await importTests('**/*.command.ts');
