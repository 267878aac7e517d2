import { passwordPrefix } from '../../controller/database/credentials.ts';

// Enough to tell a password from a sentence about how passwords begin.
const rest = /^[\w-]{8}/;
const restLength = 8;

/** What passwords begin with, so that they can be looked for: as they are, and in Base64, where bytes stand in one of three ways. */
export class Mark {
  readonly #text: Buffer;
  readonly #encoded: readonly Buffer[];

  /** @param text at least five characters of a word: fewer are found by chance in a Base64 that is long enough */
  constructor(text: string) {
    this.#text = Buffer.from(text);
    this.#encoded = [0, 1, 2].map((before) => encoded(this.#text, before));
  }

  /** How many bytes of what was searched have to be searched again when more comes after them. */
  get overlapBytes(): number {
    return 2 * this.#text.length + restLength;
  }

  /** Where a password begins, in no order. */
  *offsetsIn(bytes: Buffer): Generator<number> {
    for (const offset of offsets(bytes, this.#text)) {
      const after = offset + this.#text.length;
      if (rest.test(bytes.toString('latin1', after, after + restLength))) yield offset;
    }
    for (const form of this.#encoded) yield* offsets(bytes, form);
  }

  isIn(text: string | Buffer): boolean {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    return this.offsetsIn(bytes).next().done !== true;
  }
}

/** That of every password which the controller generates. */
export const generated = new Mark(passwordPrefix);

/** The characters of a Base64 that say nothing but the text, whatever stands before and after it. */
function encoded(text: Buffer, before: number): Buffer {
  const whole = Buffer.concat([Buffer.alloc(before), text])
    .toString('base64')
    .replace(/=+$/, '');
  const first = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + text.length) * 8) / 6);
  return Buffer.from(whole.slice(first, end));
}

function* offsets(bytes: Buffer, text: Buffer): Generator<number> {
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) yield at;
}
