import { Type } from 'typebox';
import { Enum, objectName } from '../kubernetes-schema.ts';

export const Credentials = Type.Object(
  {
    source: Enum(['Generated', 'Existing'], {
      description: 'Generated: the controller makes the Secret. Existing: a Secret that is already there is used.',
    }),
    secretName: Type.Optional(
      Type.String({
        ...objectName,
        description:
          'The Secret of source Existing, with the keys username and password, such as orders-login. Give it the label plumbline.dev/database: NAME, and a change of the password is in force within seconds; without it, when the kubelet looks, within two minutes.',
      }),
    ),
  },
  {
    description: 'Where the password of the owner comes from. Default: {source: Generated}.',
    'x-kubernetes-validations': [
      {
        rule: "self.source != 'Existing' || has(self.secretName)",
        message: 'is required with source Existing',
        fieldPath: '.secretName',
        reason: 'FieldValueRequired',
      },
      {
        rule: "self.source == 'Existing' || !has(self.secretName)",
        message: 'goes with source Existing only',
        fieldPath: '.secretName',
      },
    ],
  },
);
