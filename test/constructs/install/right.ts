import type { AuditedRequest } from './audit-log.ts';

/** One thing that somebody may do: `patch apps/statefulsets`. Rights to objects of a certain name count as those to any. */
export type Right = string;

interface Rule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** The rights that rules give, each by itself. */
export function rightsIn(rules: readonly Rule[]): readonly Right[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    verbs.flatMap((verb) =>
      apiGroups.flatMap((apiGroup) => resources.map((resource) => right(verb, apiGroup, resource))),
    ),
  );
}

/** The rights that requests made use of. An apply that makes its object needs the right to create too, for which there is no request of its own. */
export function rightsUsed(requests: readonly AuditedRequest[]): ReadonlySet<Right> {
  return new Set(
    requests.flatMap(({ verb, apiGroup, resource, status }) => {
      const isCreation = verb === 'patch' && status === 201;
      return [verb, ...(isCreation ? ['create'] : [])].map((one) => right(one, apiGroup, resource));
    }),
  );
}

function right(verb: string, apiGroup: string, resource: string): Right {
  return `${verb} ${apiGroup === '' ? '' : `${apiGroup}/`}${resource}`;
}
