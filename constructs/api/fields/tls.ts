import { Type } from 'typebox';
import { Enum, objectName } from '../kubernetes-schema.ts';

export const Tls = Type.Object(
  {
    mode: Enum(['Off', 'Generated', 'Existing'], {
      description:
        'Generated: the controller makes the certificate and renews it. Existing: that of a Secret is served. "Off", in quotes for YAML reads the bare word as false: nothing is encrypted.',
    }),
    secretName: Type.Optional(
      Type.String({
        ...objectName,
        description:
          'The Secret of mode Existing, with the keys tls.crt and tls.key (type kubernetes.io/tls) and perhaps ca.crt, such as orders-certificate.',
      }),
    ),
  },
  {
    description:
      'The certificate of the members. Unless it is off, PostgreSQL takes encrypted connections only. A new pair in the Secret is served without a restart; a change of these fields restarts the members. Default: {mode: Generated}.',
    'x-kubernetes-validations': [
      {
        rule: "self.mode != 'Existing' || has(self.secretName)",
        message: 'is required with mode Existing',
        fieldPath: '.secretName',
        reason: 'FieldValueRequired',
      },
      {
        rule: "self.mode == 'Existing' || !has(self.secretName)",
        message: 'goes with mode Existing only',
        fieldPath: '.secretName',
      },
    ],
  },
);
