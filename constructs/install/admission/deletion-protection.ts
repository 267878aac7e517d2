import type { Construct } from 'constructs';
import { group, plural } from '../../api/resource.ts';
import { policy } from './policy.ts';

/**
 * Who may delete what is protected: those who end a namespace, or an object whose owner has gone. They would try for ever, and leave it half gone.
 * The last is the name of all parts of a controller manager that runs without an account for each.
 */
const exempt = [
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:kube-controller-manager',
];

/** Refuses the deletion of a DatabaseService with `spec.deletionProtection`, unless what it owns is to stay: then the database runs on. */
export function deletionProtection(scope: Construct): void {
  policy(scope, {
    name: `deletion-protection.${group}`,
    matches: { apiGroups: [group], apiVersions: ['*'], resources: [plural], operations: ['DELETE'] },
    conditions: [
      {
        name: 'is-no-part-of-kubernetes',
        expression: `!(request.userInfo.username in [${exempt.map((name) => `'${name}'`).join(', ')}])`,
      },
    ],
    validation: {
      expression:
        "!oldObject.spec.?deletionProtection.orValue(false) || request.?options.?propagationPolicy.orValue('') == 'Orphan'",
      message: 'spec.deletionProtection is true: set it to false first, then delete',
      reason: 'Forbidden',
    },
    action: 'Deny',
  });
}
