import { Type, type Static } from 'typebox';
import type { DeepReadonly } from '../deep-readonly.ts';
import { conditions, count, text, time } from '../status-fields.ts';

/** The status of a GitDestination. */
export const Status = Type.Object(
  {
    observedGeneration: Type.Optional(count('The generation of the spec that this status speaks of.')),
    conditions: Type.Optional(conditions('Ready.')),
    lastCommit: Type.Optional(text('The last commit that was pushed.', 64)),
    lastPushTime: Type.Optional(time('When that was.')),
    pending: Type.Optional(count('Databases that wait for the repository, while it takes nothing.')),
    inReview: Type.Optional(count('With pullRequest: databases whose last change is not merged, as far as is known.')),
  },
  { description: 'What became of the deliveries. Written by the controller alone.' },
);

export type GitDestinationStatus = DeepReadonly<Static<typeof Status>>;
