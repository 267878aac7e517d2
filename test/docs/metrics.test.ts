import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { checks } from '../../controller/checks.ts';
import { Metrics } from '../../controller/metrics/index.ts';
import { requestReasons } from '../../controller/metrics/requests.ts';

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => /^\| `[a-z]+_[a-z_0-9]+` \|/.test(line));
const known = await new Metrics({ hasProcess: true }).described();

describe('the page on metrics', () => {
  test('has every metric that there is, as it is, and no other', () => {
    const wanted = known.map(({ name, type, labels, help }) => {
      const list = labels.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${list} | ${help} |`;
    });
    assert.deepEqual(rows.toSorted(), wanted.toSorted());
  });

  test('has every check and every reason of a request', () => {
    const names = Object.values(checks(() => undefined)).flatMap((list) => list.map(({ name }) => name));
    for (const name of [...names, ...Object.keys(requestReasons)]) assert(page.includes(`\`${name}\``), name);
  });
});

describe('the name of a metric', () => {
  for (const { name, type, help, labels } of known.filter(({ name }) => name.startsWith('plumbline_'))) {
    test(`${name} follows the rules of Prometheus`, () => {
      // https://prometheus.io/docs/practices/naming/
      assert.match(name, /^[a-z]+(_[a-z]+)*$/);
      assert.equal(name.endsWith('_total'), type === 'counter');
      if (type === 'histogram') assert.match(name, /_(seconds|bytes)$/);
      assert.doesNotMatch(name, /_(ms|milliseconds|percent|count)(_|$)/);
      assert.match(help, /\.$/);
      for (const label of labels) assert.match(label, /^[a-z]+$/);
    });
  }
});
