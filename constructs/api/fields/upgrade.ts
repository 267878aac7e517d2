import { Type } from 'typebox';
import { Enum } from '../kubernetes-schema.ts';

export const Upgrade = Type.Object(
  {
    rollout: Type.Optional(
      Enum(['Managed', 'StatefulSet'], {
        description:
          'Managed (default): OnDelete, a member takes it when its pod is deleted. StatefulSet: RollingUpdate by Kubernetes, no controller needed.',
      }),
    ),
  },
  { description: 'How a change of the pods reaches the members.' },
);
