import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { fileName, render } from '../../../constructs/render.ts';
import { serialize } from '../../../constructs/serialize.ts';

const namespaces = 50;

/** A database of the fleet. Another version of it has another image and another memory: two files of it differ. */
export function databaseOf(index: number, version: number): StoredDatabaseService {
  const name = `db-${index}`;
  return {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: {
      name,
      namespace: `team-${index % namespaces}`,
      uid: `uid-${index}`,
      resourceVersion: String(version),
      generation: version,
    },
    spec: {
      engine: 'postgresql',
      version: '17',
      image: `pg:17.${version}`,
      replicas: 3,
      durability: 'Sync',
      storage: { size: '10Gi' },
      parameters: { work_mem: `${version + 4}MB` },
      backup: { schedule: '30 2 * * *', volume: { size: '20Gi' } },
    },
  };
}

/** Content by path in the repository. */
export function filesOf(index: number, version: number): ReadonlyMap<string, string> {
  const { apiVersion, kind, metadata, spec } = databaseOf(index, version);
  const { namespace, name } = metadata;
  const manifests = render({ apiVersion, kind, metadata: { namespace, name }, spec });
  return new Map(
    manifests.map((manifest) => [`clusters/prod/${namespace}/${name}/${fileName(manifest)}`, serialize(manifest)]),
  );
}
