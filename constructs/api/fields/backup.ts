import { Type } from 'typebox';
import { Bytes, Enum, objectName } from '../kubernetes-schema.ts';
import { scheduleRules } from '../schedule.ts';
import { timeZoneRules } from '../time-zones.ts';

const Volume = Type.Object(
  {
    claimName: Type.Optional(
      Type.String({ ...objectName, description: 'An existing PersistentVolumeClaim to write to.' }),
    ),
    size: Type.Optional(
      Bytes({ description: 'Size of a claim that is made for the backups, such as 20Gi. It cannot be changed yet.' }),
    ),
    storageClass: Type.Optional(
      Type.String({ ...objectName, description: 'StorageClass of that claim. It cannot be changed.' }),
    ),
  },
  {
    description: 'Where backups are written: an existing claim, or the size of one to make. It is never deleted.',
    'x-kubernetes-validations': [
      { rule: 'has(self.claimName) != has(self.size)', message: 'must have either claimName or size' },
      {
        rule: '!has(self.storageClass) || has(self.size)',
        message: 'goes with size only',
        fieldPath: '.storageClass',
      },
      {
        rule: '!has(self.size) || !has(oldSelf.size) || quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) == 0',
        message: 'cannot be changed: volumes are not resized yet, but another claim can be named by claimName',
        fieldPath: '.size',
        reason: 'FieldValueForbidden',
      },
      {
        rule: "!has(self.size) || !has(oldSelf.size) || (has(self.storageClass) ? self.storageClass : '') == (has(oldSelf.storageClass) ? oldSelf.storageClass : '')",
        message: 'cannot be changed: Kubernetes cannot move a volume to another class',
        fieldPath: '.storageClass',
        reason: 'FieldValueForbidden',
      },
    ],
  },
);

const Retention = Type.Object(
  { keep: Type.Integer({ description: 'How many good backups are kept.', minimum: 1, maximum: 1000 }) },
  { description: 'Which backups are kept. Default: {keep: 7}.' },
);

export const Backup = Type.Object(
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
        'x-kubernetes-validations': timeZoneRules,
      }),
    ),
    type: Type.Optional(
      Enum(['Logical'], { description: 'Logical (default): a dump by pg_dump of each database, and the roles.' }),
    ),
    retention: Type.Optional(Retention),
    volume: Volume,
    suspend: Type.Optional(
      Type.Boolean({ description: 'true: no backup is started until it is false again. Default: false.' }),
    ),
  },
  { description: 'Backups on a schedule. Default: no backups.' },
);
