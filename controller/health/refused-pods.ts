import type { Reason } from './reasons.ts';
import type { Trouble } from './trouble.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly reason: Reason;
  readonly remedy: string;
}

/** The first that fits counts. The words are those of the admission plugins of Kubernetes. */
const rules: readonly Rule[] = [
  {
    pattern: /exceeded quota/,
    reason: 'QuotaExceeded',
    remedy: 'raise the quota, or ask for less in spec.resources, spec.storage or spec.replicas',
  },
  {
    pattern: /failed quota: .*must specify/,
    reason: 'LimitsRequired',
    remedy: 'state it in spec.resources, or let a LimitRange of the namespace fill it in',
  },
  {
    // plugin/pkg/admission/limitranger: `maximum memory usage per Container is 256Mi, but limit is 512Mi`
    pattern: /(maximum|minimum) .* usage per|limit to request ratio/,
    reason: 'LimitRangeExceeded',
    remedy: 'change spec.resources, or the LimitRange of the namespace',
  },
  {
    // What OpenShift says of a user or group outside the range of the namespace.
    pattern: /must be in the ranges/,
    reason: 'UserNotAdmitted',
    remedy:
      'the containers postgres and steward run as uid, gid and fsGroup 26, as the image has it: let the namespace admit these',
  },
  {
    pattern: /violates PodSecurity|ValidatingAdmissionPolicy|admission webhook/,
    reason: 'AdmissionDenied',
    remedy: 'let the policy admit the pods of the database',
  },
];

/** Why Kubernetes refuses to make pods. Pure. @param words of the StatefulSet controller */
export function refusedPods(words: string): Trouble {
  const cause = words.replace(/^.*? failed error: /, '');
  const rule = rules.find(({ pattern }) => pattern.test(cause));
  const message = rule === undefined ? `Kubernetes makes no pod: ${cause}` : `${cause}: ${rule.remedy}.`;
  return { reason: rule?.reason ?? 'PodsRefused', message: message.slice(0, longestMessage), isStalled: true };
}

const longestMessage = 1_500;
