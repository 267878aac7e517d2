import { Type } from 'typebox';
import { patterns } from '../patterns.ts';

export const Delivery = Type.Object(
  {
    apply: Type.Optional(
      Type.Boolean({
        description: 'true (default): the controller applies. false: Git alone, a GitOps tool applies.',
      }),
    ),
    git: Type.Optional(
      Type.Object(
        {
          destination: Type.String({
            minLength: 1,
            maxLength: 63,
            pattern: patterns.dnsLabel,
            description: 'Name of a GitDestination that the namespace may use, such as main.',
          }),
        },
        {
          description:
            "The branch of a repository that the manifests are committed to. Default: the controller's own, where it has one.",
        },
      ),
    ),
  },
  { description: 'How manifests reach the cluster.' },
);
