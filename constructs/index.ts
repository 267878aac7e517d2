export type { Problem } from './api/problem.ts';
export type { DatabaseServiceDocument } from './api/resource.ts';
export type { DatabaseServiceSpec } from './api/spec.ts';
export { assertValid, InvalidResourceError, validateResource, validateText } from './api/validate.ts';
export { DatabaseService, type DatabaseServiceProps, type Endpoints } from './database-service.ts';
export type { Manifest, ManifestMetadata } from './manifest.ts';
export { credentialsSecret, systemSecret, type SystemPasswords } from './postgresql/credentials.ts';
export { applyOrder, fileName, render } from './render.ts';
export { serialize } from './serialize.ts';
