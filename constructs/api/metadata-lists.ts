import { isQualifiedName } from './kubernetes-name.ts';
import { join, show, type Problem } from './problem.ts';
import { isFields } from './schema-node.ts';

/** What is wrong with finalizers. */
export function finalizerProblems(finalizers: unknown): readonly Problem[] {
  return eachOf(finalizers, 'finalizers', (finalizer) =>
    isQualifiedName(String(finalizer)) ? undefined : 'is not the name of a finalizer such as example.com/keep',
  );
}

/** What is wrong with ownerReferences. */
export function ownerProblems(owners: unknown): readonly Problem[] {
  const controllers = (Array.isArray(owners) ? owners : []).filter(
    (owner) => isFields(owner) && owner['controller'] === true,
  );
  const rule = 'must name at most one owner with controller: true';
  const tooMany = { field: 'metadata.ownerReferences', value: undefined, rule, remedy: '' };
  return [...eachOf(owners, 'ownerReferences', ownerProblem), ...(controllers.length > 1 ? [tooMany] : [])];
}

function eachOf(list: unknown, name: string, problemOf: (item: unknown) => string | undefined): readonly Problem[] {
  return (Array.isArray(list) ? list : []).flatMap((item, index) => {
    const rule = problemOf(item);
    return rule === undefined ? [] : [{ field: join(`metadata.${name}`, index), value: show(item), rule, remedy: '' }];
  });
}

function ownerProblem(owner: unknown): string | undefined {
  const { apiVersion = '', kind, name, uid } = isFields(owner) ? owner : {};
  const [version, group, ...rest] = (typeof apiVersion === 'string' ? apiVersion : '').split('/').reverse();
  const missing = Object.entries({ apiVersion: rest.length === 0 && version, kind, name, uid }).filter(
    ([, given]) => !given,
  );
  if (missing.length > 0) return `needs ${missing.map(([field]) => field).join(', ')}`;
  return version === 'v1' && !group && kind === 'Event' ? 'names an Event, which cannot own anything' : undefined;
}
