import { DEFAULT_SCALAR_STYLE_RULES, dump, SCALAR_STYLE, type ScalarStyleRule } from 'js-yaml';

/**
 * An object as YAML, the same bytes everywhere: in dist/, in Git and in a test. Keys are sorted, lines are never wrapped, and text that a YAML 1.1
 * reader (Go's, so kubectl's) and a 1.2 reader would take for different things is quoted.
 */
export function serialize(manifest: object): string {
  return dump(sorted(manifest), { noRefs: true, lineWidth: -1, seqNoIndent: true, scalarStyleRules: styles });
}

/** Numbers that js-yaml would leave bare: `.` by the letter of YAML 1.1, `0o17_0` by Go's reader. */
const numberLike = /^((?=.*[.\d])[-+.,:_\deE]+|[-+]?0[box][\da-f_]+)$/i;

const quoteNumberLike: ScalarStyleRule = (layout) => {
  if (layout.node.tag === 'tag:yaml.org,2002:str' && numberLike.test(layout.node.value)) {
    layout.style = SCALAR_STYLE.SINGLE_QUOTED;
  }
};

/** Lines of blanks alone, and blanks before the first: readers differ in how far a block is indented then. */
const quoteBlankLines: ScalarStyleRule = (layout) => {
  if (
    layout.node.tag === 'tag:yaml.org,2002:str' &&
    /\n/.test(layout.node.value) &&
    /^[ \t]|\n[ \t]+(\n|$)/.test(layout.node.value)
  ) {
    layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
  }
};

const styles: readonly ScalarStyleRule[] = [
  quoteNumberLike,
  quoteBlankLines,
  ...Object.values(DEFAULT_SCALAR_STYLE_RULES),
];

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const source = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(source)
      .sort()
      .map((key) => [key, sorted(source[key])]),
  );
}
