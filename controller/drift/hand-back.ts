import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import { statedTree } from './deviation.ts';
import { readable, type FieldPath } from './field-path.ts';
import { appliedEntry, covers, fieldsOf, leaves } from './owned-fields.ts';
import { valueAt } from './value-at.ts';

/** How an object can be left to somebody else's apply. */
export interface HandBack {
  /** Without ours. */
  readonly managedFields: readonly ManagedFieldsEntry[];
  /** We have something that is not stated any more and that nobody else has: it would be nobody's, and stay. */
  readonly hasRest: boolean;
}

/**
 * Leaves an object to somebody else, once he applies all that we have of what is stated: as long as we own a field too, it stays when he drops it. No
 * value changes by that. Pure.
 *
 * @param manager our field manager
 * @param stated what is left to him
 * @param kept what is stated of the object, and is left to nobody
 * @returns undefined where nothing is ours, or something that is stated would be nobody's
 */
export function handBack(
  live: KubeObject,
  manager: string,
  stated: KubeObject,
  kept: KubeObject = stated,
): HandBack | undefined {
  const ours = appliedEntry(live, manager);
  if (ours === undefined) return undefined;
  const { managedFields: entries = [] } = live.metadata;
  const others = entries.filter((entry) => entry !== ours && (entry.subresource ?? '') === '');
  const [wanted, all] = [statedTree(stated), statedTree(kept)];
  const own = [...leaves(fieldsOf(ours))];
  const has = (entry: ManagedFieldsEntry, path: FieldPath): boolean => covers(fieldsOf(entry), path);
  const shared = own.filter((path) => covers(wanted, path) && counts(live, path));
  const isTaken = others.some((entry) => entry.operation === 'Apply' && shared.every((path) => has(entry, path)));
  if (!isTaken) return undefined;
  const rest = own.filter(
    (path) => !covers(all, path) && counts(live, path) && !others.some((entry) => has(entry, path)),
  );
  return { managedFields: entries.filter((entry) => entry !== ours), hasRest: rest.length > 0 };
}

/**
 * Whose a field is counts where it is stored, which `false` and 0 often are not, and where it can go. Each time that we apply one of the others, with
 * what the API server has filled in or left out, it becomes ours alone; the tool's next apply makes it the tool's.
 */
function counts(live: KubeObject, path: FieldPath): boolean {
  return valueAt(live, path) !== undefined && readable(path) !== 'spec.volumeClaimTemplates';
}
