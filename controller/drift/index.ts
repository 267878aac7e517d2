export { deviations, statedTree, type Deviation } from './deviation.ts';
export { deletion, drifts, isAddition, isForeign, type Drift } from './drift.ts';
export type { Editor } from './editor.ts';
export { episodes, inWords, type Episode } from './episode.ts';
export { handOver } from './hand-over.ts';
export { additionOf, foreignFields, type Foreign } from './foreign.ts';
export { appliedEntry, covers, fieldsOf, fingerprint, leaves } from './owned-fields.ts';
export { isWithin, readable, type FieldPath } from './field-path.ts';
export { without } from './value-at.ts';
