import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import { appliedEntry, at, fieldsOf, isLeaf, type FieldTree } from './owned-fields.ts';

/** Names that stand for Plumbline: whatever they own is ours, also what is not stated any more. The field manager of today is no part of it. */
const formerNames: ReadonlySet<string> = new Set(['plumbline-controller']);

/** Who wrote for a person, before Plumbline did or under its hands, and wants nothing of its own. Source: the list that Flux takes over from. */
const handsOfPeople: ReadonlySet<string> = new Set(['kubectl-client-side-apply', 'before-first-apply']);

/**
 * Whether an entry of managedFields is of an earlier life of what we state: as long as it owns fields of ours too, what we take out stays, and a list
 * item that gets another key is refused. Of an object that we have not applied yet, all of kubectl counts.
 */
export function isOldHand({ manager = '', subresource = '' }: ManagedFieldsEntry, isApplied: boolean): boolean {
  if (subresource !== '') return false;
  return formerNames.has(manager) || handsOfPeople.has(manager) || (!isApplied && /^kubectl(-|$)/.test(manager));
}

/** Whether there is something to take over before the next apply: fields that old hands own too, or that nobody owns since a wipe. */
export function hasOldHands(object: KubeObject, manager: string): boolean {
  const own = appliedEntry(object, manager);
  const entries = object.metadata.managedFields ?? [];
  if (isWiped(object, manager)) return true;
  return entries.some((entry) => {
    if (!isOldHand(entry, own !== undefined)) return false;
    return own === undefined || isFormer(entry) || overlaps(fieldsOf(own), fieldsOf(entry));
  });
}

/** Whether nobody owns what the object is about, though somebody must have written it: managedFields were wiped. */
export function isWiped(object: KubeObject, manager: string): boolean {
  const entries = object.metadata.managedFields ?? [];
  if (entries.length === 0) return true;
  const isEmpty = Object.keys(object).every((name) => outside.has(name));
  if (isEmpty || appliedEntry(object, manager) !== undefined) return false;
  return entries.every(
    ({ subresource = '', fieldsV1 = {} }) =>
      subresource !== '' || Object.keys(fieldsV1).every((step) => outside.has(step.slice(2))),
  );
}

const outside: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

export function isFormer({ manager = '' }: ManagedFieldsEntry): boolean {
  return formerNames.has(manager);
}

function overlaps(own: FieldTree, theirs: FieldTree): boolean {
  return Object.entries(theirs).some(([step, below]) => {
    const ours = step === '.' ? undefined : at(own, step);
    if (ours === undefined) return false;
    return isLeaf(below) || isLeaf(ours) || overlaps(ours, below);
  });
}
