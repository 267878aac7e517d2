import { importTests } from './import-tests.ts';

importTests('**/*.command.ts');
