import { importTests } from './import-tests.ts';
import { secondHalf } from './second-half.ts';

for (const name of secondHalf) importTests(`postgresql/${name}.cluster.ts`);
