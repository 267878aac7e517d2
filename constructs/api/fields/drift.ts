import { Type } from 'typebox';
import { Enum } from '../kubernetes-schema.ts';

export const Drift = Type.Object(
  {
    policy: Type.Optional(
      Enum(['Correct', 'Report'], {
        description: 'Correct (default): a foreign change is put back. Report: it is only reported.',
      }),
    ),
  },
  { description: 'What is done about changes by others to what Plumbline states.' },
);
