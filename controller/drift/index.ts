export { deviations, statedTree, type Deviation } from './deviation.ts';
export { deletion, drifts, isForeign, type Drift } from './drift.ts';
export type { Editor } from './editor.ts';
export { episodes, inWords, type Episode } from './episode.ts';
export { appliedEntry, fieldsOf, fingerprint, leaves } from './owned-fields.ts';
export { readable, type FieldPath } from './field-path.ts';
