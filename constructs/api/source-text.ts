/** The API server takes 3 MiB and etcd 1.5 MiB; a spec is a few kilobytes. */
const mostBytes = 1024 * 1024;

/** What a file is instead of text that Kubernetes reads; the message says what to do. */
export class SourceTextError extends Error {
  override readonly name = 'SourceTextError';
  readonly line: number;
  constructor(message: string, line = 1) {
    super(message);
    this.line = line;
  }
}

/**
 * The text of a file as Kubernetes reads it: UTF-8, or UTF-16 with a byte order mark (as some Windows tools write), and with line feeds for
 * all ends of lines that YAML knows.
 * Source: go.yaml.in/yaml/v2, readerc.go
 *
 * @throws SourceTextError when it is too large, is no text, or holds control characters
 */
export function sourceText(source: string | Uint8Array): string {
  const bytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (bytes > mostBytes) {
    throw new SourceTextError(
      `is larger than ${mostBytes / 1024} KiB: one file holds the specs of databases and nothing else`,
    );
  }
  const text = (typeof source === 'string' ? source : decoded(source)).replace(/^\uFEFF/, '');
  const control = notPrintable.exec(text);
  if (control) {
    const line = text.slice(0, control.index).split(endOfLine).length;
    const code = (control[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw new SourceTextError(`has the control character U+${code}: remove it`, line);
  }
  return text.replace(allEndsOfLine, '\n');
}

const endOfLine = /\r\n?|\n|\u0085/;
const allEndsOfLine = /\r\n?|\u0085/g;
/* Line and paragraph separators end a line for Go's reader and for no editor: nobody could see what Kubernetes reads. */
const notPrintable = /(?<=\n)\uFEFF|[^\t\n\r\x20-\x7E\x85\xA0-\u2027\u202A-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

function decoded(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SourceTextError(`is not ${encoding.toUpperCase()} text: save it as UTF-8`);
  }
}
