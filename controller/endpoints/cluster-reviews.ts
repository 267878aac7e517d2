import type { KubeClient } from '../kube/client.ts';
import type { ResourceType } from '../kube/index.ts';
import type { Reviews, User } from './gate.ts';

const tokenReviews: ResourceType = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
};
const accessReviews: ResourceType = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/** Asks the API server. Needs create on both kinds of reviews: the ClusterRole `system:auth-delegator`. */
export function clusterReviews(kube: Pick<KubeClient, 'review'>): Reviews {
  return {
    async userOf(token) {
      const { authenticated, user } = (await kube.review(tokenReviews, { token })) as {
        readonly authenticated?: boolean;
        readonly user?: User;
      };
      return authenticated === true ? (user ?? {}) : undefined;
    },
    async mayRead({ username, uid, groups, extra }, path) {
      const nonResourceAttributes = { path, verb: 'get' };
      const spec = { nonResourceAttributes, user: username, uid, groups, extra };
      const { allowed } = (await kube.review(accessReviews, spec)) as { readonly allowed?: boolean };
      return allowed === true;
    },
  };
}
