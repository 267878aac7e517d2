import { Type } from 'typebox';

export const Delivery = Type.Object(
  {
    apply: Type.Optional(
      Type.Boolean({
        description: 'true (default): the controller applies. false: Git alone, a GitOps tool applies.',
      }),
    ),
  },
  { description: 'How manifests reach the cluster.' },
);
