/** Rights of the controller that no request ever shows, and why it has them all the same. */
export const unseenRights: ReadonlyMap<string, string> = new Map([
  ['get pods', 'handed on to the members of each database, for Patroni'],
  ['update plumbline.dev/databaseservices/finalizers', 'looked at by the admission of owners'],
  ['delete secrets', 'looked at by the admission of owners'],
]);

/** Rights that are for what happens seldom, so that not every run shows them, and what that is. */
export const seldomRights: ReadonlyMap<string, string> = new Map([
  ['get plumbline.dev/databaseservices', 'asked for an object that a list lacks though no watch has shown its end'],
]);

/** What a controller is refused on purpose, and why it asks. */
export const expectedRefusals: ReadonlyMap<string, string> = new Map([
  ['list plumbline.dev/gitdestinations', 'that is how one for some namespaces finds out whether it serves any'],
]);
