import { Type } from 'typebox';
import { Enum } from '../kubernetes-schema.ts';

export const Upgrade = Type.Object(
  {
    rollout: Type.Optional(
      Enum(['Managed', 'StatefulSet'], {
        description:
          'Managed (default): OnDelete, members are restarted by Plumbline. StatefulSet: RollingUpdate by Kubernetes, no controller needed.',
      }),
    ),
  },
  { description: 'How a change of the pods reaches the members.' },
);
