/** Something in a text that looks like a secret. */
export interface Suspect {
  readonly kind: string;
  readonly text: string;
  /** Of the text, beginning with 1. */
  readonly line: number;
}

/** Kinds that show by their form what they are. Where there are two parts in a pattern, the secret is the last. */
const forms: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\\nr"'+]*[A-Za-z0-9+/]{40}/g],
  ['password of a database of Plumbline', /\bplbpw_[\w-]{32}/g],
  ['JSON Web Token', /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g],
  ['token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})/g],
  ['token of GitLab', /\bglpat-[\w-]{20}/g],
  ['token of npm', /\bnpm_[A-Za-z0-9]{36}/g],
  ['token of Slack', /\bxox[abeoprs]-[\w-]{10,}/g],
  ['key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['key of Google', /\bAIza[\w-]{35}/g],
];

const named =
  /(?:passw(?:or)?d|passphrase|secret|token|api_?key|credentials?)["'`]?\s*(?::|=>?)\s*["'`]?([\w+/=.-]{16,})/gi;
const inUrl = /\b[a-z][a-z+]*:\/\/[^\s:/@"'`]+:([^\s/@"'`$]{12,})@/gi;

/** Bits for each character; words of a language have fewer, even if their letters are as many. */
const leastEntropy = 3.5;

/** Whatever looks like a secret, in the order of its kinds. */
export function suspects(text: string): readonly Suspect[] {
  const byForm = forms.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({ kind, found, index })),
  );
  const byName = [named, inUrl].flatMap((pattern) =>
    [...text.matchAll(pattern)]
      .filter(([, value = '']) => isRandom(value))
      .map(({ 1: found = '', index }) => ({ kind: 'password', found, index })),
  );
  return [...byForm, ...byName].map(({ kind, found, index }) => ({
    kind,
    text: found,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** Whether nobody would have thought of it: letters and digits in a colourful order. */
function isRandom(text: string): boolean {
  return /\d/.test(text) && /[a-z]/i.test(text) && entropy(text) >= leastEntropy;
}

/** Shannon's, of the characters, in bits for each. */
function entropy(text: string): number {
  const counts = Object.values(Object.groupBy(text.split(''), (character) => character)).map(
    (group) => group?.length ?? 0,
  );
  return counts.reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}
