const ellipsis = '…';

/** The text in at most `maxBytes` bytes of UTF-8, cut between characters and ended with `…` where it was longer. */
export function truncateUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ellipsis);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}

/** Bytes of the form 10xxxxxx follow the first byte of a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
