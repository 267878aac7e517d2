import { importTests } from './import-tests.ts';

importTests('controller/**/*.cluster.ts');
