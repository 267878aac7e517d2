import { importTests } from './import-tests.ts';

importTests('{cluster,constructs,leaks}/**/*.cluster.ts');
