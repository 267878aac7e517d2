import type {
  V1MatchCondition,
  V1NamedRuleWithOperations,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1Validation,
} from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { keptAnnotations } from '../../api/kept.ts';
import { emit, type Json } from '../../emit.ts';
import { apiLabels as labels } from '../labels.ts';

/** What the API server asks of each request of a kind, by itself: no program of ours takes part, so none can be down. */
export interface AdmissionRule {
  readonly name: string;
  readonly matches: Json<V1NamedRuleWithOperations>;
  /** All must hold, or nothing is asked. Defaults to none. */
  readonly conditions?: readonly Json<V1MatchCondition>[];
  readonly validation: Json<V1Validation>;
  /** Warn: the request succeeds, and whoever made it is told. */
  readonly action: 'Deny' | 'Warn';
}

/** A ValidatingAdmissionPolicy, bound for the whole cluster. */
export function policy(scope: Construct, { name, matches, conditions, validation, action }: AdmissionRule): void {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name, labels, annotations: keptAnnotations };
  emit<V1ValidatingAdmissionPolicy>(scope, `policy-${name}`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      // Of an expression that cannot be evaluated; a warning then is none.
      failurePolicy: action === 'Deny' ? 'Fail' : 'Ignore',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        // The defaults are stated: otherwise the second apply counts as a change.
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ scope: '*', ...matches }],
      },
      matchConditions: conditions,
      validations: [validation],
    },
  });
  emit<V1ValidatingAdmissionPolicyBinding>(scope, `policy-binding-${name}`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: [action] },
  });
}
