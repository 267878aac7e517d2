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
    healthTimeoutSeconds: Type.Optional(
      Type.Integer({
        description:
          'How long a changed member may get nowhere before the change counts as failed. One that clones or replays gets somewhere. Default: 300.',
        minimum: 30,
        maximum: 86400,
      }),
    ),
    rollback: Type.Optional(
      Type.Boolean({
        description:
          'Whether the pod template and the settings that were stable last come back after a change that failed. Default: true.',
      }),
    ),
  },
  { description: 'How a change of the pods reaches the members.' },
);
