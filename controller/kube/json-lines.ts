/**
 * A line of a watch that is not a JSON document.
 * It tells where, never what: a line may be a Secret, and JSON.parse quotes its input in its message.
 */
export class MalformedLineError extends Error {
  override readonly name = 'MalformedLineError';
  /** Documents that were read well before it. */
  readonly documentsBefore: number;
  readonly lineBytes: number;

  constructor(problem: string, documentsBefore: number, lineBytes: number) {
    super(`${problem} (${lineBytes} bytes, after ${documentsBefore} good documents)`);
    this.documentsBefore = documentsBefore;
    this.lineBytes = lineBytes;
  }
}

/** Longest line taken, in bytes; etcd's own limit for an object is 1.5 MB unless raised. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Splits a stream of bytes into JSON documents, one to a line.
 *
 * Lines are cut at the byte 0x0a, which in UTF-8 is never part of another character, and only whole lines are decoded:
 * a character that lies across two chunks stays whole (https://github.com/LinusU/node-jsonlines/issues/7).
 */
export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** Pieces of the line that has begun; joined once, when it ends, so that a long line costs no more than its length. */
  #pieces: Uint8Array[] = [];
  #piecesBytes = 0;
  #documents = 0;

  /**
   * Takes the next chunk and yields each document that it completes.
   * @throws MalformedLineError at a line that is not JSON in UTF-8, or too long.
   */
  *push(chunk: Uint8Array): Generator<unknown, void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      start = end + 1;
      if (line.length > 0) yield this.#parse(line);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /**
   * Ends the stream; yields the last document if it had no newline.
   * @throws MalformedLineError if the stream was cut in the middle of a line.
   */
  *end(): Generator<unknown, void> {
    const line = this.#complete(new Uint8Array(0));
    if (line.length > 0) yield this.#parse(line);
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#piecesBytes += piece.length;
    if (this.#piecesBytes > MAX_LINE_BYTES) {
      throw new MalformedLineError('a line is too long', this.#documents, this.#piecesBytes);
    }
  }

  #complete(last: Uint8Array): Uint8Array {
    if (this.#pieces.length === 0) return last;
    const line = Buffer.concat([...this.#pieces, last], this.#piecesBytes + last.length);
    this.#pieces = [];
    this.#piecesBytes = 0;
    return line;
  }

  #parse(line: Uint8Array): unknown {
    try {
      const document: unknown = JSON.parse(this.#decoder.decode(line));
      this.#documents += 1;
      return document;
    } catch {
      throw new MalformedLineError('a line is not JSON', this.#documents, line.length);
    }
  }
}

/** Decodes a whole stream with {@link JsonLines}. */
export async function* decodeJsonLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void> {
  const lines = new JsonLines();
  for await (const chunk of source) yield* lines.push(chunk);
  yield* lines.end();
}
