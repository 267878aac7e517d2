import { Type } from 'typebox';
import { Enum } from '../kubernetes-schema.ts';
import { patterns } from '../patterns.ts';

export const Drift = Type.Object(
  {
    policy: Type.Optional(
      Enum(['Correct', 'Report'], {
        description:
          'Correct (default): a foreign change is put back, also one of a file in Git. Report: it is only reported.',
      }),
    ),
    additions: Type.Optional(
      Enum(['Report', 'Remove', 'Allow'], {
        description:
          'What others add to the pods, ports and other parts of a spec that Plumbline renders, such as a container, a variable or an annotation of the pod template. Report (default): it is told and left. Remove: it is taken out again. Allow: it is left without a word.',
      }),
    ),
    allowManagers: Type.Optional(
      Type.Array(
        Type.String({
          description: 'Such as istio-injector, as it stands in managedFields.',
          minLength: 1,
          maxLength: 128,
          pattern: patterns.printable,
        }),
        {
          description:
            'Field managers that may add to what Plumbline renders, and change fields of it below spec, without a word.',
          maxItems: 32,
          'x-kubernetes-list-type': 'atomic',
        },
      ),
    ),
    pause: Type.Optional(
      Type.Object(
        {
          until: Type.String({
            description: 'When it ends, such as 2027-01-01T00:00:00Z. A time in the past is no pause.',
            maxLength: 32,
            pattern: patterns.time,
          }),
          reason: Type.Optional(
            Type.String({ description: 'Why, in a few words.', maxLength: 256, pattern: patterns.printable }),
          ),
        },
        { description: 'Until when nothing is corrected, and what others do is only told.' },
      ),
    ),
  },
  { description: 'What is done about changes by others to what Plumbline states.' },
);
