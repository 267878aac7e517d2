import {
  apiVersion,
  kind,
  type DatabaseServiceDocument,
  type StoredDatabaseService,
} from '../../constructs/api/resource.ts';
import { restartedAtAnnotation } from '../../constructs/labels.ts';

/** The object as a user wrote it, as far as manifests are made of it: without what the API server added, and what is for the controller alone. */
export function document({ metadata, spec }: StoredDatabaseService): DatabaseServiceDocument {
  const { name, namespace, annotations } = metadata;
  const restartedAt = annotations?.[restartedAtAnnotation];
  const asked = restartedAt === undefined ? {} : { annotations: { [restartedAtAnnotation]: restartedAt } };
  return { apiVersion, kind, metadata: { name, namespace, ...asked }, spec };
}
