import { Type } from 'typebox';
import { Bytes, Quantity } from '../kubernetes-schema.ts';
import type { Rule } from '../rule.ts';

const ResourceList = (description: string) =>
  Type.Object(
    {
      cpu: Type.Optional(Quantity({ description: 'Cores, such as 250m or 2.' })),
      memory: Type.Optional(Bytes({ description: 'Bytes, such as 512Mi or 4Gi.' })),
    },
    { description },
  );

function withinLimit(name: 'cpu' | 'memory'): Rule {
  const both = ['requests', 'limits'].map((list) => `has(self.${list}) && has(self.${list}.${name})`).join(' && ');
  return {
    rule: `!(${both}) || quantity(string(self.requests.${name})).compareTo(quantity(string(self.limits.${name}))) <= 0`,
    message: 'must not be greater than the limit',
    fieldPath: `.requests.${name}`,
  };
}

export const Resources = Type.Object(
  {
    requests: Type.Optional(ResourceList('What is reserved on the node.')),
    limits: Type.Optional(ResourceList('What is never exceeded.')),
  },
  {
    description:
      'Resources of the postgres container. Default: requests 250m and 512Mi; the memory limit is the request where only that is given.',
    'x-kubernetes-validations': [withinLimit('cpu'), withinLimit('memory')],
  },
);
