import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';
import { defaults } from './defaults.ts';

/** Pod Security "restricted", with the user that the image contract names. */
export const podSecurity: Json<V1PodSecurityContext> = {
  runAsNonRoot: true,
  runAsUser: defaults.uid,
  runAsGroup: defaults.uid,
  fsGroup: defaults.uid,
  // A large volume is not walked at each start.
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** The same for each container. */
export const containerSecurity: Json<V1SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
};
