import {
  apiVersion,
  kind,
  type DatabaseServiceDocument,
  type StoredDatabaseService,
} from '../../constructs/api/resource.ts';

/** The object as a user wrote it, without what the API server added. */
export function document({ metadata, spec }: StoredDatabaseService): DatabaseServiceDocument {
  return { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace }, spec };
}
