import type { Engine } from '../engine.ts';
import { memberStatusAnnotation, primaryRole, replicaRole, roleLabel } from '../labels.ts';
import { defaults, settle } from './defaults.ts';
import { configurationDigest } from './dynamic-configuration.ts';
import { postgresql } from './postgresql.ts';
import { templateDigest } from './workload.ts';

/** PostgreSQL under Patroni. */
export const postgresqlEngine: Engine = {
  name: 'postgresql',
  port: defaults.port,
  roleLabel,
  primaryRole,
  replicaRole,
  memberStatusAnnotation,
  templateDigest: (resource) => templateDigest(settle(resource)),
  settingsDigest: (resource) => configurationDigest(settle(resource)),
  renderers: { 1: (scope, resource) => postgresql(scope, settle(resource)) },
};
