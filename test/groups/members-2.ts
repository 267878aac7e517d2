import { importTests } from './import-tests.ts';

await importTests('postgresql/*.cluster.ts', (_, place) => place % 2 === 1);
