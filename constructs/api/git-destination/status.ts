import { Type, type Static } from 'typebox';
import type { DeepReadonly } from '../deep-readonly.ts';
import { Enum } from '../kubernetes-schema.ts';

const text = (description: string, maxLength = 1024) => Type.String({ description, maxLength });
const time = (description: string) => Type.String({ description, format: 'date-time' });
const count = (description: string) => Type.Integer({ description, minimum: 0 });

const Condition = Type.Object(
  {
    type: text('Ready.', 316),
    status: Enum(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    reason: text('Why, in one word.'),
    message: text('Why, in a sentence, and what to do.', 32768),
    lastTransitionTime: time('When the status changed last.'),
    observedGeneration: Type.Optional(count('The generation of the spec that was judged.')),
  },
  { description: 'One condition.' },
);

/** The status of a GitDestination. */
export const Status = Type.Object(
  {
    observedGeneration: Type.Optional(count('The generation of the spec that this status speaks of.')),
    conditions: Type.Optional(
      Type.Array(Condition, {
        description: 'What holds, and why.',
        maxItems: 32,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    ),
    lastCommit: Type.Optional(text('The last commit that was pushed.', 64)),
    lastPushTime: Type.Optional(time('When that was.')),
    pending: Type.Optional(count('Databases that wait for the repository, while it takes nothing.')),
  },
  { description: 'What became of the deliveries. Written by the controller alone.' },
);

export type GitDestinationStatus = DeepReadonly<Static<typeof Status>>;
