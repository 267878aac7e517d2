/** What a YAML scalar cannot be read as; the message goes behind the field. */
export class ScalarError extends Error {
  override readonly name = 'ScalarError';
}

/**
 * A scalar as Kubernetes reads it: YAML 1.1 as Go resolves it, so that `on` is true, `0o17` is 15, and `1:30` and dates are text.
 * Source: go.yaml.in/yaml/v2, resolve.go
 *
 * @param tag the tag as written in the document, resolved (`tag:yaml.org,2002:int`); undefined without one
 * @param isPlain not in quotes and no block
 */
export function goScalar(text: string, tag: string | undefined, isPlain: boolean): unknown {
  if (tag === undefined) return isPlain ? plain(text) : text;
  const name = tag.startsWith(yamlTag) ? tag.slice(yamlTag.length) : '';
  if (name === 'binary') return binary(text);
  const type = types[name];
  if (!type || name === 'str') return text;
  if (name === 'timestamp' && isTimestamp(text)) return text;
  const value = plain(text);
  if (!type(value)) throw new ScalarError(`is no ${name}`);
  return value;
}

const yamlTag = 'tag:yaml.org,2002:';

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  str: () => true,
  bool: (value) => typeof value === 'boolean',
  int: (value) => Number.isInteger(value),
  float: (value) => typeof value === 'number',
  null: (value) => value === null,
  timestamp: () => false,
};

const words = new Map<string, unknown>(
  (
    [
      [true, 'y Y yes Yes YES true True TRUE on On ON'],
      [false, 'n N no No NO false False FALSE off Off OFF'],
      [null, '~ null Null NULL'],
      [NaN, '.nan .NaN .NAN'],
      [Infinity, '.inf .Inf .INF +.inf +.Inf +.INF'],
      [-Infinity, '-.inf -.Inf -.INF'],
    ] as const
  ).flatMap(([value, list]) => list.split(' ').map((word) => [word, value] as const)),
).set('', null);

function plain(text: string): unknown {
  if (words.has(text)) return words.get(text);
  if (text.startsWith('.')) return finite(/^\.[0-9]+([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : undefined) ?? text;
  if (!/^[-+0-9]/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  return integer(digits) ?? float(digits) ?? text;
}

/** As `strconv.ParseInt(text, 0, 64)`, then `ParseUint`: what does not fit into 64 bits is no integer. */
function integer(digits: string): number | undefined {
  const [, sign, prefix = '', rest = ''] = /^([-+]?)(0[xX]|0[bB]|0[oO]|0(?=[0-9]))?([0-9a-fA-F]+)$/.exec(digits) ?? [];
  const base = { '': /^[0-9]+$/, '0x': /^[0-9a-f]+$/, '0b': /^[01]+$/, '0o': /^[0-7]+$/, '0': /^[0-7]+$/ };
  const kind = prefix.toLowerCase() as keyof typeof base;
  if (sign === undefined || !base[kind].test(rest.toLowerCase())) return undefined;
  const size = BigInt(kind === '0' ? `0o${rest}` : kind + rest);
  const most = sign === '-' ? 2n ** 63n : sign === '+' ? 2n ** 63n - 1n : 2n ** 64n - 1n;
  return size > most ? undefined : Number(sign === '-' ? -size : size);
}

function float(digits: string): number | undefined {
  return finite(/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(digits) ? Number(digits) : undefined);
}

/** Go takes what is too large for a float for text. */
function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function isTimestamp(text: string): boolean {
  return /^\d{4}-\d\d?-\d\d?([Tt]\d\d?:\d\d?:\d\d?(\.\d+)?(Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(\.\d+)?)?$/.test(text);
}

function binary(text: string): string {
  const base64 = text.replaceAll(/[\r\n]/g, '');
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64))
    throw new ScalarError('is no base64');
  return Buffer.from(base64, 'base64').toString('utf8');
}
