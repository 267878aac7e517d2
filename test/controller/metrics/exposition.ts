import assert from 'node:assert/strict';

/** One value with its labels. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a scrape gave. */
export interface Scrape {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the only sample with these labels and maybe others; 0 where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  all(name: string, labels?: Readonly<Record<string, string>>): readonly Sample[];
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const parts = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] } as const;

/**
 * Reads Prometheus' text format as strictly as it is written down (https://prometheus.io/docs/instrumenting/exposition_formats/): each family once and in one
 * piece, with help and type, each series once, histograms whole.
 */
export function parseExposition(text: string): Scrape {
  assert(text.endsWith('\n'), 'the last line has an end');
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  let family = '';
  for (const one of text.slice(0, -1).split('\n')) {
    if (one === '') continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(one);
    if (comment) {
      const [, what, name = '', words = ''] = comment;
      if (name !== family) assert(!types.has(name) && !helps.has(name), `${name} is one piece`);
      family = name;
      if (what === 'HELP') helps.add(name);
      else {
        assert.match(words, /^(counter|gauge|histogram|summary|untyped)$/, one);
        types.set(name, words);
      }
      continue;
    }
    const [, name = '', labels = '', value = ''] = line.exec(one) ?? assert.fail(`no sample: ${one}`);
    const type = types.get(family) ?? '';
    const names = Object.hasOwn(parts, type) ? parts[type as keyof typeof parts].map((end) => family + end) : [family];
    assert(names.includes(name), `${name} is in the family ${family}`);
    const number = numberOf(value);
    // Go reads it in any spelling, and prom-client writes Nan.
    assert(!Number.isNaN(number) || /^nan$/i.test(value), one);
    const sample = { name, labels: labelsOf(labels, one), value: number };
    const series = name + JSON.stringify(Object.entries(sample.labels).toSorted(([a], [b]) => a.localeCompare(b)));
    assert(!seen.has(series), `a series comes once: ${one}`);
    seen.add(series);
    samples.push(sample);
  }
  for (const name of types.keys()) assert(helps.has(name), `${name} has a help`);
  const all: Scrape['all'] = (name, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  const value: Scrape['value'] = (name, labels) => {
    const found = all(name, labels);
    assert(found.length <= 1, `${name} ${JSON.stringify(labels)} is one sample`);
    return found[0]?.value ?? 0;
  };
  checkHistograms(types, all);
  return { types, samples, all, value };
}

function numberOf(text: string): number {
  if (text === '+Inf' || text === '-Inf') return text === '+Inf' ? Infinity : -Infinity;
  return /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) ? Number(text) : NaN;
}

function labelsOf(text: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const [, name = '', value = ''] = label.exec(text) ?? assert.fail(`the labels are well-formed: ${line}`);
    assert(!Object.hasOwn(labels, name), `a label comes once: ${line}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
  }
  return labels;
}

function checkHistograms(types: ReadonlyMap<string, string>, all: Scrape['all']): void {
  for (const [name, type] of types) {
    if (type !== 'histogram') continue;
    for (const { labels, value } of all(`${name}_count`)) {
      const buckets = all(`${name}_bucket`, labels).map(
        ({ labels, value }) => [numberOf(labels['le'] ?? ''), value] as const,
      );
      assert.deepEqual(buckets.at(-1), [Infinity, value], `${name} ends with all`);
      for (const [index, [le, count]] of buckets.entries()) {
        const [before, fewer] = buckets[index - 1] ?? [-Infinity, 0];
        assert(le > before && count >= fewer, `the buckets of ${name} grow`);
      }
    }
  }
}
