import { Type } from 'typebox';
import { Enum, LabelMap, labelKey, labelValue } from '../kubernetes-schema.ts';

const Requirement = Type.Object(
  {
    key: Type.String({ ...labelKey, description: 'The label.' }),
    operator: Enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
      description: 'How the label is compared with the values.',
    }),
    values: Type.Optional(
      Type.Array(Type.String({ ...labelValue, description: 'A value.' }), {
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
        message: 'are needed by In and NotIn, and are not taken by Exists and DoesNotExist',
        fieldPath: '.values',
      },
    ],
  },
);

const Selector = (description: string) =>
  Type.Object(
    {
      matchLabels: Type.Optional(LabelMap('Labels that must be there with these values.')),
      matchExpressions: Type.Optional(
        Type.Array(Requirement, {
          description: 'Requirements that must all hold.',
          maxItems: 16,
          'x-kubernetes-list-type': 'atomic',
        }),
      ),
    },
    { description },
  );

const Range = (description: string) =>
  Type.String({
    description,
    minLength: 1,
    maxLength: 49,
    'x-kubernetes-validations': [{ rule: 'isCIDR(self)', message: 'must be a range such as 10.0.0.0/8 or fd00::/8' }],
  });

const isInside =
  'isCIDR(e) && cidr(self.cidr).containsCIDR(e) && cidr(e).prefixLength() > cidr(self.cidr).prefixLength()';

const AddressBlock = Type.Object(
  {
    cidr: Range('A range such as 10.0.0.0/8 or fd00::/8.'),
    except: Type.Optional(
      Type.Array(Range('A range such as 10.1.0.0/16.'), {
        description: 'Ranges inside it that are left out.',
        maxItems: 16,
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
  },
  {
    description: 'A range of addresses.',
    'x-kubernetes-validations': [
      {
        rule: `!has(self.except) || !isCIDR(self.cidr) || self.except.all(e, ${isInside})`,
        message: 'must lie inside cidr and be smaller than it',
        fieldPath: '.except',
      },
    ],
  },
);

/** One peer of a NetworkPolicy. */
export const Peer = (description: string) =>
  Type.Object(
    {
      podSelector: Type.Optional(Selector('Pods by label.')),
      namespaceSelector: Type.Optional(Selector('Namespaces by label; absent is the namespace of the database.')),
      ipBlock: Type.Optional(AddressBlock),
    },
    {
      description,
      'x-kubernetes-validations': [
        {
          rule: 'has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))',
          message: 'must be either an ipBlock, or a podSelector, a namespaceSelector or both',
        },
      ],
    },
  );

export const Access = Type.Object(
  {
    from: Type.Array(Peer('Who may connect.'), {
      description: 'NetworkPolicy peers that may connect to PostgreSQL.',
      minItems: 1,
      maxItems: 32,
      'x-kubernetes-list-type': 'atomic',
    }),
  },
  { description: 'Who may connect. Default: every pod of the same namespace.' },
);
