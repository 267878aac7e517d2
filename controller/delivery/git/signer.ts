/** Which key of a block can sign. */
export type Signer =
  | { readonly kind: 'found'; readonly fingerprint: string }
  | { readonly kind: 'none' }
  /** `why` is a part of a sentence. */
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * The first private key that `gpg --with-colons --list-secret-keys` lists, or why nothing can be signed with it. Pure.
 * Source: doc/DETAILS of GnuPG, "Format of the colon listings".
 */
export function signerIn(listing: string): Signer {
  const keys = keysIn(listing);
  const [primary] = keys;
  if (primary === undefined) return { kind: 'none' };
  const { fingerprint } = primary;
  const unfit = (what: string): Signer => ({ kind: 'unfit', why: `${fingerprint} ${what}` });
  if (primary.validity === 'r') return unfit('was revoked: put another key into the Secret');
  if (primary.validity === 'e') return unfit(`has expired${on(primary)}: prolong it and put it into the Secret again`);
  // A key that is kept elsewhere stands in the list without its secret part.
  const signing = keys.filter(({ capabilities, isThere }) => isThere && capabilities.includes('s'));
  if (signing.some(({ validity }) => validity !== 'e' && validity !== 'r')) return { kind: 'found', fingerprint };
  const [expired] = signing.filter(({ validity }) => validity === 'e');
  if (expired !== undefined) return unfit(`can sign no more, since its subkey has expired${on(expired)}: prolong it`);
  return unfit('has no part that may sign: make one with gpg --quick-add-key, for "sign"');
}

interface ListedKey {
  readonly fingerprint: string;
  /** `e` for one that has expired, `r` for one that was revoked. */
  readonly validity: string;
  /** In seconds since 1970; empty where it does not expire. */
  readonly expires: string;
  readonly capabilities: string;
  readonly isThere: boolean;
}

/** The first primary key and its subkeys. */
function keysIn(listing: string): readonly ListedKey[] {
  const records = listing.split('\n').map((line) => line.split(':'));
  const starts = records.flatMap(([type], index) => (type === 'sec' ? [index] : []));
  const [first] = starts;
  if (first === undefined) return [];
  return records.slice(first, starts[1]).flatMap((fields, index, all) => {
    if (fields[0] !== 'sec' && fields[0] !== 'ssb') return [];
    const fingerprint = all.slice(index).find(([type]) => type === 'fpr')?.[9] ?? fields[4] ?? '';
    const [validity = '', expires = '', capabilities = ''] = [fields[1], fields[6], fields[11]];
    return [{ fingerprint, validity, expires, capabilities, isThere: !fields[14]?.startsWith('#') }];
  });
}

function on({ expires }: ListedKey): string {
  return /^\d+$/.test(expires) ? ` on ${new Date(Number(expires) * 1000).toISOString().slice(0, 10)}` : '';
}
