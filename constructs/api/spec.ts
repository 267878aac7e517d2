import { Type, type Static } from 'typebox';
import type { DeepReadonly } from './deep-readonly.ts';
import { Bytes, Enum, Quantity, StringMap } from './kubernetes-schema.ts';
import { patterns } from './patterns.ts';
import { parameterRules } from './parameters.ts';
import { scheduleRules } from './schedule.ts';
import { timeZones } from './time-zones.ts';

/** Whether a field that may be absent stayed as it was: absent means the renderer's default. */
const unchanged = (field: string, absent = "''"): string =>
  `(has(self.${field}) ? self.${field} : ${absent}) == (has(oldSelf.${field}) ? oldSelf.${field} : ${absent})`;

const sqlName = {
  minLength: 1,
  maxLength: 63,
  pattern: patterns.sqlName,
} as const;

const objectName = { minLength: 1, maxLength: 253, pattern: patterns.objectName } as const;

const Selector = (description: string) =>
  Type.Object(
    {
      matchLabels: Type.Optional(
        StringMap({ description: 'Labels that must be there with these values.', maxProperties: 16, maxLength: 63 }),
      ),
      matchExpressions: Type.Optional(
        Type.Array(
          Type.Object(
            {
              key: Type.String({ description: 'The label.', minLength: 1, maxLength: 317, pattern: patterns.labelKey }),
              operator: Enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
                description: 'How the label is compared with the values.',
              }),
              values: Type.Optional(
                Type.Array(Type.String({ description: 'A value.', maxLength: 63, pattern: patterns.labelValue }), {
                  description: 'The values; for In and NotIn only.',
                  maxItems: 32,
                  'x-kubernetes-list-type': 'atomic',
                }),
              ),
            },
            {
              description: 'One requirement.',
              'x-kubernetes-validations': [
                {
                  rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
                  message: 'In and NotIn need values; Exists and DoesNotExist take none',
                },
              ],
            },
          ),
          { description: 'Requirements that must all hold.', maxItems: 16, 'x-kubernetes-list-type': 'atomic' },
        ),
      ),
    },
    { description },
  );

const Peer = (description: string) =>
  Type.Object(
    {
      podSelector: Type.Optional(Selector('Pods by label.')),
      namespaceSelector: Type.Optional(Selector('Namespaces by label; absent is the namespace of the database.')),
      ipBlock: Type.Optional(
        Type.Object(
          {
            cidr: Type.String({
              description: 'A range such as 10.0.0.0/8 or fd00::/8.',
              minLength: 1,
              maxLength: 49,
              'x-kubernetes-validations': [
                { rule: 'isCIDR(self)', message: 'must be a range such as 10.0.0.0/8 or fd00::/8' },
              ],
            }),
            except: Type.Optional(
              Type.Array(
                Type.String({
                  description: 'A range.',
                  minLength: 1,
                  maxLength: 49,
                  'x-kubernetes-validations': [
                    { rule: 'isCIDR(self)', message: 'must be a range such as 10.0.0.0/8 or fd00::/8' },
                  ],
                }),
                {
                  description: 'Ranges inside it that are left out.',
                  maxItems: 16,
                  'x-kubernetes-list-type': 'atomic',
                },
              ),
            ),
          },
          { description: 'A range of addresses.' },
        ),
      ),
    },
    {
      description,
      'x-kubernetes-validations': [
        {
          rule: 'has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))',
          message: 'a peer is either an ipBlock, or a podSelector, a namespaceSelector or both',
        },
      ],
    },
  );

const Storage = Type.Object(
  {
    size: Bytes({ description: 'Size of the data volume of each member, such as 10Gi.' }),
    storageClass: Type.Optional(
      Type.String({
        ...objectName,
        description: 'StorageClass of the data volumes; absent is the default class of the cluster.',
      }),
    ),
    onDelete: Type.Optional(
      Enum(['Retain', 'Delete'], {
        description:
          'What becomes of the data volumes when the DatabaseService, or a member of it, goes: Retain (default) keeps them.',
      }),
    ),
  },
  {
    description: 'The data volume of each member.',
    'x-kubernetes-validations': [
      {
        rule: 'quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) == 0',
        message: 'cannot be changed: volumes are not resized yet',
        fieldPath: '.size',
        reason: 'FieldValueForbidden',
      },
      {
        rule: unchanged('storageClass'),
        message: 'cannot be changed: Kubernetes cannot move a volume to another class',
        fieldPath: '.storageClass',
        reason: 'FieldValueForbidden',
      },
    ],
  },
);

const Credentials = Type.Object(
  {
    source: Enum(['Generated', 'Existing'], {
      description: 'Generated: the controller makes the Secret. Existing: a Secret that is already there is used.',
    }),
    secretName: Type.Optional(
      Type.String({ ...objectName, description: 'With Existing: the Secret, with the keys username and password.' }),
    ),
  },
  {
    description: 'Where the password of the owner comes from. Default: {source: Generated}.',
    'x-kubernetes-validations': [
      {
        rule: "(self.source == 'Existing') == has(self.secretName)",
        message: 'is required with source Existing, and only there',
        fieldPath: '.secretName',
      },
    ],
  },
);

const Resources = Type.Object(
  Object.fromEntries(
    (['requests', 'limits'] as const).map((kind) => [
      kind,
      Type.Optional(
        Type.Object(
          {
            cpu: Type.Optional(
              Quantity({
                description: 'Cores, such as 250m or 2.',
                'x-kubernetes-validations': [
                  {
                    rule: 'quantity(string(self)).isGreaterThan(quantity("0"))',
                    message: 'must be greater than zero, such as 250m',
                  },
                ],
              }),
            ),
            memory: Type.Optional(Bytes({ description: 'Bytes, such as 512Mi or 4Gi.' })),
          },
          { description: kind === 'requests' ? 'What is reserved on the node.' : 'What is never exceeded.' },
        ),
      ),
    ]),
  ) as Record<'requests' | 'limits', ReturnType<typeof resourceList>>,
  {
    description:
      'Resources of the postgres container. Default: requests 250m and 512Mi; the memory limit is the request where only that is given.',
    'x-kubernetes-validations': (['cpu', 'memory'] as const).map((name) => ({
      rule: `!has(self.requests) || !has(self.limits) || !has(self.requests.${name}) || !has(self.limits.${name}) || quantity(string(self.requests.${name})).compareTo(quantity(string(self.limits.${name}))) <= 0`,
      message: 'must not be greater than the limit',
      fieldPath: `.requests.${name}`,
    })),
  },
);

function resourceList() {
  return Type.Optional(
    Type.Object({
      cpu: Type.Optional(Quantity({ description: '' })),
      memory: Type.Optional(Quantity({ description: '' })),
    }),
  );
}

const Toleration = Type.Object(
  {
    key: Type.Optional(
      Type.String({
        description: 'The taint; absent with operator Exists is every taint.',
        maxLength: 317,
        pattern: patterns.labelKey,
      }),
    ),
    operator: Type.Optional(Enum(['Equal', 'Exists'], { description: 'Equal (default) compares the value.' })),
    value: Type.Optional(
      Type.String({ description: 'The value of the taint.', maxLength: 63, pattern: patterns.labelValue }),
    ),
    effect: Type.Optional(
      Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'The effect; absent is every effect.' }),
    ),
    tolerationSeconds: Type.Optional(
      Type.Integer({ description: 'With NoExecute: seconds until eviction.', minimum: 0, maximum: 31536000 }),
    ),
  },
  {
    description: 'One toleration, as in a pod.',
    'x-kubernetes-validations': [
      {
        rule: "(has(self.operator) && self.operator == 'Exists') ? !has(self.value) : has(self.key)",
        message: 'Equal needs a key; Exists takes no value',
      },
      {
        rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message: 'goes with effect NoExecute only',
        fieldPath: '.tolerationSeconds',
      },
    ],
  },
);

const Scheduling = Type.Object(
  {
    spreadBy: Type.Optional(
      Type.String({
        description: 'Node label over which members are spread. Default: kubernetes.io/hostname.',
        minLength: 1,
        maxLength: 317,
        pattern: patterns.labelKey,
      }),
    ),
    nodeSelector: Type.Optional(
      StringMap({ description: 'Labels that a node must have.', maxProperties: 16, maxLength: 63 }),
    ),
    tolerations: Type.Optional(
      Type.Array(Toleration, {
        description: 'Taints that members and backups tolerate.',
        maxItems: 16,
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    priorityClass: Type.Optional(Type.String({ ...objectName, description: 'PriorityClass of the members.' })),
  },
  { description: 'Where members run; backups follow the same node selector and tolerations.' },
);

const Backup = Type.Object(
  {
    schedule: Type.String({
      description: "When: a Kubernetes cron schedule such as '30 2 * * *', or @daily.",
      minLength: 1,
      maxLength: 128,
      'x-kubernetes-validations': scheduleRules,
    }),
    timeZone: Type.Optional(
      Type.String({
        description:
          'IANA zone of the schedule, such as Europe/Berlin. Default: Etc/UTC. Where clocks change, a run between 01:00 and 03:00 is skipped or doubled once a year.',
        maxLength: 64,
        'x-kubernetes-validations': [
          {
            rule: `self in [${timeZones.map((z) => `'${z}'`).join(', ')}]`,
            message:
              'must be a name of the IANA time zone database in its own spelling, such as Europe/Berlin or Etc/UTC',
          },
        ],
      }),
    ),
    type: Type.Optional(
      Enum(['Logical'], { description: 'Logical: a dump by pg_dump of each database, and the roles.' }),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          keep: Type.Integer({ description: 'How many good backups are kept.', minimum: 1, maximum: 1000 }),
        },
        { description: 'Which backups are kept. Default: {keep: 7}.' },
      ),
    ),
    volume: Type.Object(
      {
        claimName: Type.Optional(
          Type.String({ ...objectName, description: 'An existing PersistentVolumeClaim to write to.' }),
        ),
        size: Type.Optional(Bytes({ description: 'Size of a claim that is made for the backups.' })),
        storageClass: Type.Optional(Type.String({ ...objectName, description: 'StorageClass of that claim.' })),
      },
      {
        description: 'Where backups are written: an existing claim, or the size of one to make. It is never deleted.',
        'x-kubernetes-validations': [
          { rule: 'has(self.claimName) != has(self.size)', message: 'needs either claimName or size' },
          {
            rule: '!has(self.storageClass) || has(self.size)',
            message: 'goes with size only',
            fieldPath: '.storageClass',
          },
        ],
      },
    ),
    suspend: Type.Optional(Type.Boolean({ description: 'true: no backup is started until it is false again.' })),
  },
  { description: 'Backups on a schedule. Absent: no backups.' },
);

/** The spec of a DatabaseService. Defaults are the renderer's (see `postgresql/defaults.ts`), but for those that the CRD needs. */
export const Spec = Type.Object(
  {
    engine: Enum(['postgresql'], { description: 'The database engine. It cannot be changed.' }),
    version: Type.String({
      description:
        'Version of the engine in quotes, such as "17" or "17.5"; majors 12 to 19. 12 to 14 are out of support.',
      minLength: 1,
      maxLength: 16,
      'x-kubernetes-validations': [
        {
          rule: "self.matches('^1[2-9]([.][0-9]{1,4}){0,2}$')",
          message: 'must be a version of PostgreSQL with major 12 to 19, such as "17" or "17.5"',
        },
        {
          rule: "self.split('.')[0] == oldSelf.split('.')[0]",
          message: 'cannot be moved to another major: major upgrades are not done yet',
          reason: 'FieldValueForbidden',
        },
      ],
    }),
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
    access: Type.Optional(
      Type.Object(
        {
          from: Type.Array(Peer('Who may connect.'), {
            description: 'NetworkPolicy peers that may connect to PostgreSQL.',
            minItems: 1,
            maxItems: 32,
            'x-kubernetes-list-type': 'atomic',
          }),
        },
        { description: 'Who may connect. Default: every pod of the same namespace.' },
      ),
    ),
    backup: Type.Optional(Backup),
    upgrade: Type.Optional(
      Type.Object(
        {
          rollout: Type.Optional(
            Enum(['Managed', 'StatefulSet'], {
              description:
                'Managed (default): OnDelete, members are restarted by Plumbline. StatefulSet: RollingUpdate by Kubernetes, no controller needed.',
            }),
          ),
        },
        { description: 'How a change of the pods reaches the members.' },
      ),
    ),
    drift: Type.Optional(
      Type.Object(
        {
          policy: Type.Optional(
            Enum(['Correct', 'Report'], {
              description: 'Correct (default): a foreign change is put back. Report: it is only reported.',
            }),
          ),
        },
        { description: 'What is done about changes by others to what Plumbline states.' },
      ),
    ),
    delivery: Type.Optional(
      Type.Object(
        {
          apply: Type.Optional(
            Type.Boolean({
              description: 'true (default): the controller applies. false: Git alone, a GitOps tool applies.',
            }),
          ),
        },
        { description: 'How manifests reach the cluster.' },
      ),
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
      ...(['database', 'username'] as const).map((name) => ({
        rule: unchanged(name, "'app'"),
        message: 'cannot be changed: rename it in SQL and create a new DatabaseService, or keep it',
        fieldPath: `.${name}`,
        reason: 'FieldValueForbidden' as const,
      })),
      {
        rule: "!has(self.durability) || self.durability == 'Async' || self.replicas >= 2",
        message: 'Sync and SyncStrict need replicas of 2 or more',
        fieldPath: '.durability',
      },
      {
        rule: "!has(self.durability) || self.durability == 'Async' || !has(self.parameters) || !('synchronous_commit' in self.parameters) || !(self.parameters['synchronous_commit'] in ['off', 'local'])",
        message: 'synchronous_commit off or local contradicts durability Sync',
        fieldPath: '.parameters',
      },
      {
        rule: "!has(self.username) || !(self.username in ['postgres', 'plumbline_replication', 'plumbline_rewind'] || self.username.startsWith('pg_'))",
        message: 'is a role of the system: choose another name',
        fieldPath: '.username',
      },
      {
        rule: "!has(self.database) || !(self.database in ['postgres', 'template0', 'template1'])",
        message: 'is a database of the system: choose another name',
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
