import { Type } from 'typebox';
import { Enum } from './kubernetes-schema.ts';

export const text = (description: string, maxLength = 1024) => Type.String({ description, maxLength });
export const time = (description: string) => Type.String({ description, format: 'date-time' });
export const count = (description: string) => Type.Integer({ description, minimum: 0 });

/**
 * The conditions of a status, one of each type.
 *
 * @param types which there are
 */
export function conditions(types: string) {
  const condition = Type.Object(
    {
      type: text(types, 316),
      status: Enum(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
      reason: text('Why, in one word.'),
      message: text('Why, in a sentence, and what to do.', 32768),
      lastTransitionTime: time('When the status changed last.'),
      observedGeneration: Type.Optional(count('The generation of the spec that was judged.')),
    },
    { description: 'One condition.' },
  );
  return Type.Array(condition, {
    description: 'What holds, and why.',
    maxItems: 32,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
}
