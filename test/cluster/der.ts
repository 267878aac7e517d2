/** The few pieces of DER (ITU-T X.690) that an X.509 certificate is made of. Each function returns one encoded value. */

export function sequence(...items: readonly Buffer[]): Buffer {
  return encode(0x30, Buffer.concat(items));
}

export function set(...items: readonly Buffer[]): Buffer {
  return encode(0x31, Buffer.concat(items));
}

/** A constructed value with a context-specific tag, as in `[3] EXPLICIT`. */
export function tagged(tag: number, content: Buffer): Buffer {
  return encode(0xa0 | tag, content);
}

/** A primitive value with a context-specific tag, as in `[2] IMPLICIT IA5String`. */
export function taggedPrimitive(tag: number, content: Buffer): Buffer {
  return encode(0x80 | tag, content);
}

export function boolean(value: boolean): Buffer {
  return encode(0x01, Buffer.from([value ? 0xff : 0]));
}

/** A non-negative integer, given as big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return encode(0x02, isNegative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return encode(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Buffer): Buffer {
  return encode(0x04, bytes);
}

export function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text, 'utf8'));
}

/** UTCTime: years 1950 to 2049. */
export function utcTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return encode(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

function encode(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(count: number): number[] {
  if (count < 0x80) return [count];
  const bytes: number[] = [];
  for (let rest = count; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}
