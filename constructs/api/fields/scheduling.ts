import { Type } from 'typebox';
import { Enum, LabelMap, labelKey, labelValue, objectName } from '../kubernetes-schema.ts';

const Toleration = Type.Object(
  {
    key: Type.Optional(
      Type.String({ ...labelKey, description: 'The taint; absent with operator Exists is every taint.' }),
    ),
    operator: Type.Optional(Enum(['Equal', 'Exists'], { description: 'Equal (default) compares the value.' })),
    value: Type.Optional(Type.String({ ...labelValue, description: 'The value of the taint.' })),
    effect: Type.Optional(
      Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'The effect; absent is every effect.' }),
    ),
    tolerationSeconds: Type.Optional(
      Type.Integer({ description: 'Seconds until eviction; with NoExecute only.', minimum: 0, maximum: 31536000 }),
    ),
  },
  {
    description: 'One toleration, as in a pod.',
    'x-kubernetes-validations': [
      {
        rule: "(has(self.operator) && self.operator == 'Exists') ? !has(self.value) : has(self.key)",
        message: 'needs a key with operator Equal, and takes no value with Exists',
      },
      {
        rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message: 'goes with effect NoExecute only',
        fieldPath: '.tolerationSeconds',
      },
    ],
  },
);

export const Scheduling = Type.Object(
  {
    spreadBy: Type.Optional(
      Type.String({
        ...labelKey,
        description: 'Node label over which members are spread. Default: kubernetes.io/hostname.',
      }),
    ),
    nodeSelector: Type.Optional(LabelMap('Labels that a node must have.')),
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
