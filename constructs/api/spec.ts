import { Type, type Static } from 'typebox';
import type { DeepReadonly } from './deep-readonly.ts';
import { Access } from './fields/access.ts';
import { Backup } from './fields/backup.ts';
import { Credentials } from './fields/credentials.ts';
import { Delivery } from './fields/delivery.ts';
import { Drift } from './fields/drift.ts';
import { Monitoring } from './fields/monitoring.ts';
import { Resources } from './fields/resources.ts';
import { Scheduling } from './fields/scheduling.ts';
import { Storage } from './fields/storage.ts';
import { Tls } from './fields/tls.ts';
import { Upgrade } from './fields/upgrade.ts';
import { Version } from './fields/version.ts';
import { Enum, StringMap } from './kubernetes-schema.ts';
import { parameterRules } from './parameters.ts';
import { patterns } from './patterns.ts';
import { immutable } from './rule.ts';

const sqlName = { minLength: 1, maxLength: 63, pattern: patterns.sqlName } as const;

const isSync = "has(self.durability) && self.durability != 'Async'";

/** The spec of a DatabaseService. Defaults are the renderer's (see `postgresql/defaults.ts`), but for those that the CRD needs. */
export const Spec = Type.Object(
  {
    engine: Enum(['postgresql'], { description: 'The database engine. It cannot be changed.' }),
    version: Version,
    renderer: Type.Optional(
      Type.Integer({
        description:
          'Version of the renderer. A new release of Plumbline keeps the output of the old ones. Default: 1.',
        minimum: 1,
        maximum: 1,
      }),
    ),
    image: Type.Optional(
      Type.String({
        description: 'Container image, instead of the one that belongs to the version.',
        minLength: 1,
        maxLength: 512,
        pattern: patterns.image,
      }),
    ),
    replicas: Type.Optional(
      Type.Integer({
        description: 'Members: one primary, the rest streaming replicas.',
        minimum: 1,
        maximum: 10,
        default: 1,
      }),
    ),
    storage: Storage,
    database: Type.Optional(
      Type.String({ ...sqlName, description: 'First database. It cannot be changed. Default: app.' }),
    ),
    username: Type.Optional(
      Type.String({ ...sqlName, description: 'Owner of the first database. It cannot be changed. Default: app.' }),
    ),
    credentials: Type.Optional(Credentials),
    parameters: Type.Optional(
      StringMap({
        description: 'Settings of PostgreSQL. Values are text: write "200", "off" and "1.10" in quotes.',
        maxProperties: 128,
        maxLength: 1024,
        'x-kubernetes-validations': parameterRules,
      }),
    ),
    durability: Type.Optional(
      Enum(['Async', 'Sync', 'SyncStrict'], {
        description:
          'When a commit is acknowledged: Async (default) by the primary alone; Sync by a replica too, as long as there is one; SyncStrict never without a replica.',
      }),
    ),
    resources: Type.Optional(Resources),
    scheduling: Type.Optional(Scheduling),
    access: Type.Optional(Access),
    monitoring: Type.Optional(Monitoring),
    tls: Type.Optional(Tls),
    backup: Type.Optional(Backup),
    upgrade: Type.Optional(Upgrade),
    drift: Type.Optional(Drift),
    delivery: Type.Optional(Delivery),
    deletionProtection: Type.Optional(
      Type.Boolean({
        description:
          'true: it cannot be deleted, but with its namespace, or with --cascade=orphan, after which it runs on. Set it to false first. Default: false. It needs the admission policies that are installed beside the CRD.',
      }),
    ),
  },
  {
    description: 'What the database is to be.',
    'x-kubernetes-validations': [
      {
        rule: 'self.engine == oldSelf.engine',
        message: 'cannot be changed',
        fieldPath: '.engine',
        reason: 'FieldValueForbidden',
      },
      immutable(
        'database',
        "'app'",
        'cannot be changed: rename it in SQL and create a new DatabaseService, or keep it',
      ),
      immutable(
        'username',
        "'app'",
        'cannot be changed: rename it in SQL and create a new DatabaseService, or keep it',
      ),
      {
        rule: `!(${isSync}) || self.replicas >= 2`,
        message: 'must be Async, or replicas must be 2 or more',
        fieldPath: '.durability',
      },
      {
        rule: `!(${isSync}) || !has(self.parameters) || !('synchronous_commit' in self.parameters) || !(self.parameters['synchronous_commit'] in ['off', 'local'])`,
        message: 'must not have synchronous_commit off or local, which contradicts durability Sync',
        fieldPath: '.parameters',
      },
      {
        rule: "!has(self.parameters) || !('shared_preload_libraries' in self.parameters) || self.parameters['shared_preload_libraries'].matches('^[A-Za-z0-9_-]+( *, *[A-Za-z0-9_-]+)*$')",
        message: 'must have names of libraries in shared_preload_libraries, such as pg_stat_statements, and no paths',
        fieldPath: '.parameters',
      },
      {
        rule: "!has(self.username) || !(self.username in ['postgres', 'public', 'none', 'plumbline_replication', 'plumbline_rewind', 'plumbline_monitoring'] || self.username.startsWith('pg_'))",
        message: 'must not be a role of the system: choose another name',
        fieldPath: '.username',
      },
      {
        rule: "!has(self.database) || !(self.database in ['postgres', 'template0', 'template1'])",
        message: 'must not be a database of the system: choose another name',
        fieldPath: '.database',
      },
    ],
  },
);

/** The spec as a user writes it. */
export type DatabaseServiceSpec = DeepReadonly<Static<typeof Spec>>;

/** The spec as it is stored: `replicas` is always there, for the CRD defaults it. */
export type StoredSpec = DatabaseServiceSpec & { readonly replicas: number };

export type Peer = NonNullable<StoredSpec['access']>['from'][number];
