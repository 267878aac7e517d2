import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { group } from '../../constructs/api/resource.ts';

/**
 * On a database whose files are in Git, with the name of the GitDestination that they went to: so its folder is removed also when it is deleted, or
 * goes elsewhere, while no controller runs.
 */
const ofDestination = `git.${group}/`;
/** The same for the branch of the controller's own options. */
const ofController = `${group}/git`;

/** @param destination undefined for the branch of the controller's own options */
export function finalizerFor(destination: string | undefined): string {
  return destination === undefined ? ofController : ofDestination + destination;
}

/** Which destination a finalizer of ours names; undefined for the branch of the controller's own options. */
export function destinationIn(finalizer: string): string | undefined {
  return finalizer === ofController ? undefined : finalizer.slice(ofDestination.length);
}

/** Those of ours, of which there are several while a database goes elsewhere. */
export function gitFinalizers({ metadata }: StoredDatabaseService): readonly string[] {
  return (metadata.finalizers ?? []).filter((one) => one === ofController || one.startsWith(ofDestination));
}
