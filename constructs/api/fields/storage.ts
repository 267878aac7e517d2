import { Type } from 'typebox';
import { Bytes, Enum, objectName } from '../kubernetes-schema.ts';
import { immutable } from '../rule.ts';

export const Storage = Type.Object(
  {
    size: Bytes({ description: 'Size of the data volume of each member, such as 10Gi. It cannot be changed yet.' }),
    storageClass: Type.Optional(
      Type.String({
        ...objectName,
        description:
          'StorageClass of the data volumes. It cannot be changed. Default: the default class of the cluster.',
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
      immutable('storageClass', "''", 'cannot be changed: Kubernetes cannot move a volume to another class'),
    ],
  },
);
