import { importTests } from './import-tests.ts';
import { secondHalf } from './second-half.ts';

const others = new Set(secondHalf.map((name) => `postgresql/${name}.cluster.ts`));
importTests('postgresql/*.cluster.ts', (path) => !others.has(path));
