import type { KubeObject } from '../../controller/kube/index.ts';
import { databaseService } from '../controller/running-plumbline.ts';

/** The database of the benchmarks: everything that can be rendered is. */
export function benchDatabase(namespace: string, name: string): KubeObject {
  return databaseService(namespace, name, {
    replicas: 3,
    durability: 'Sync',
    backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } },
  });
}
