import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { engines } from '../../constructs/engine.ts';
import { Lru } from '../runtime/lru.ts';

/** What a member is to bear and to say of itself when it is as a document asks for. */
export interface MemberDigests {
  /** Of the pod template. */
  readonly template: string;
  /** Of the settings that it has read. */
  readonly settings: string;
}

/** Each run asks for the same one several times, as do those that follow it within moments, and it takes a millisecond to work out. */
const known = new Lru<MemberDigests>(256);

/** Pure, though what was worked out lately is remembered. */
export function memberDigests(document: DatabaseServiceDocument): MemberDigests {
  const key = JSON.stringify(document);
  const before = known.get(key);
  if (before !== undefined) return before;
  const engine = engines[document.spec.engine];
  const digests = { template: engine.templateDigest(document), settings: engine.settingsDigest(document) };
  known.set(key, digests);
  return digests;
}
