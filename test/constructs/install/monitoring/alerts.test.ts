import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { conditionTypes } from '../../../../controller/database/conditions.ts';
import { reasons } from '../../../../controller/health/reasons.ts';
import { Metrics } from '../../../../controller/metrics/index.ts';
import { project } from '../../../commands/command.ts';
import { alertCases } from './alert-cases.ts';
import { dashboard, dashboardExpressions, rendered, rules } from './rendered.ts';
import { selectorsIn, type Selector } from './selectors.ts';

const described = await new Metrics({ hasProcess: true }).described();
/** Metrics that the page on the exporter has, with those labels of a target that alerts may go by. */
const ofMembers = readFileSync(join(project, 'docs/monitoring.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`((?:pg|patroni)_\w+)`/g)])
  .map(([, name = '']) => [name, new Set(['namespace', 'database', 'pod', 'container'])] as const);
/** Labels by the name of a series; those of a target beside them. */
const known = new Map<string, ReadonlySet<string>>([
  ...ofMembers,
  ...described.flatMap(({ name, type, labels }) => {
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
    const all = (one: string): ReadonlySet<string> =>
      new Set([...labels, 'namespace', 'pod', ...(one.endsWith('_bucket') ? ['le'] : [])]);
    return names.map((one) => [one, all(one)] as const);
  }),
]);

function checkSelectors(selectors: readonly Selector[]): void {
  assert(selectors.length > 0);
  for (const { metric, matchers } of selectors) {
    const labels = known.get(metric);
    assert(labels, `${metric} is a metric of the controller or of a member`);
    for (const { label, value, operator } of matchers) {
      assert(labels.has(label), `${metric} has the label ${label}`);
      if (metric !== 'plumbline_database_condition') continue;
      const values = operator.endsWith('~') ? value.split('|') : [value];
      if (label === 'type') for (const one of values) assert(conditionTypes.has(one), one);
      if (label === 'reason') for (const one of values) assert(one in reasons, one);
      if (label === 'status') assert.match(value, /^(True|False)$/);
    }
  }
}

/** Sections of the page of alerts, by their anchors as GitHub makes them. */
function sections(): ReadonlyMap<string, string> {
  const [, ...parts] = readFileSync(join(project, 'docs/alerts.md'), 'utf8').split(/^## /m);
  return new Map(
    parts.map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return [anchorOf(title), lines.join('\n')];
    }),
  );
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

describe('each alert', () => {
  for (const { alert, expr, labels, annotations } of rules()) {
    const { summary, description, runbook_url: runbook } = annotations;

    test(`${alert} reads metrics, labels, conditions and reasons that there are`, () => {
      checkSelectors(selectorsIn(expr));
    });

    test(`${alert} says how bad it is, and of what, in sentences`, () => {
      assert.match(alert, /^Plumbline([A-Z][a-z]+)+$/);
      assert.match(labels.severity, /^(critical|warning)$/);
      const isOfDatabase = !expr.includes('namespace="');
      for (const text of [summary, description]) {
        assert.match(text, /\.$/);
        if (isOfDatabase) assert.match(text, /\{\{ \$labels\.namespace \}\}\/\{\{ \$labels\.(name|database) \}\}/);
      }
      if (!isOfDatabase) assert(summary.includes('plumbline-system'), summary);
    });

    test(`${alert} leads to its section, which says what it means, how to look and what to do`, () => {
      const [page, anchor = ''] = runbook.split('#');
      assert.equal(page, 'https://plumbline.dev/docs/alerts.md');
      const section = sections().get(anchor) ?? assert.fail(`docs/alerts.md has a section ${alert}`);
      for (const part of ['What it means', 'How to look', 'What to do']) assert(section.includes(`**${part}.**`), part);
    });

    test(`${alert} has a test of when it is told, and of when it is not`, () => {
      const cases = alertCases[alert];
      assert(cases && cases.fires.length > 0 && cases.silent.length > 0);
    });
  }
});

test('no name comes twice, and there is neither a test nor a section of an alert that is not there', () => {
  const names = rules().map(({ alert }) => alert);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(Object.keys(alertCases).toSorted(), names.toSorted());
  assert.deepEqual([...sections().keys()].toSorted(), names.map((name) => name.toLowerCase()).toSorted());
});

test('every link from the page of alerts leads to a section', () => {
  const text = readFileSync(join(project, 'docs/alerts.md'), 'utf8');
  const links = [...text.matchAll(/\]\(([\w.-]*\.md)?#([\w-]+)\)/g)];
  assert(links.length > 10);
  for (const [, page = 'alerts.md', anchor = ''] of links) {
    const path = join(project, 'docs', page);
    assert(existsSync(path), path);
    const anchors = [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title));
    assert(anchors.includes(anchor), `${dirname(page)}/${page}#${anchor}`);
  }
});

test('runbooks are where the option says, labels are those that are asked for, and others are not lost', () => {
  const props = { runbooks: 'https://git.example/alerts.md', selectedBy: { release: 'prometheus' } };
  for (const { alert, annotations } of rules(props)) {
    assert.equal(annotations.runbook_url, `https://git.example/alerts.md#${alert.toLowerCase()}`);
  }
  for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
    const { labels } = rendered(kind, props).metadata;
    assert.deepEqual([labels?.['release'], labels?.['app.kubernetes.io/name']], ['prometheus', 'plumbline']);
    assert.equal(rendered(kind).metadata.labels?.['release'], undefined);
  }
  const found = rendered('ConfigMap', { dashboardLabels: { 'team/dashboards': 'yes' } }).metadata.labels;
  assert.equal(found?.['team/dashboards'], 'yes');
  assert.equal(found?.['grafana_dashboard'], undefined);
});

for (const runbooks of ['docs/alerts.md', 'https://git.example/alerts.md#alerts', '']) {
  test(`a page of runbooks that no link leads to is refused: "${runbooks}"`, () => {
    assert.throws(() => rules({ runbooks }), /runbooks is/);
  });
}

test('alerts of the controller are about the namespace that it is installed in', () => {
  const [group] = [rules({ namespace: 'databases' }).filter(({ expr }) => expr.includes('namespace="'))];
  assert(group.length > 0);
  for (const { expr, annotations } of group) {
    assert(!`${expr}${annotations.summary}${annotations.description}`.includes('plumbline-system'), expr);
    assert(expr.includes('namespace="databases"'), expr);
  }
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard();

  test('reads metrics, labels, conditions and reasons that there are', () => {
    for (const expr of dashboardExpressions()) checkSelectors(selectorsIn(expr));
  });

  test('has panels with a title, a description and queries whose legends are of labels that are there', () => {
    for (const { type, title, description = '', targets = [] } of panels) {
      assert.notEqual(title, '');
      if (type === 'row') continue;
      assert.match(description, /\.$/, title);
      assert(targets.length > 0, title);
      for (const { expr, legendFormat } of targets) {
        for (const [, label = ''] of legendFormat.matchAll(/\{\{ (\w+) \}\}/g)) {
          const [, by] = /by \(([^)]*)\)/.exec(expr) ?? [];
          const kept = by?.split(', ') ?? ['pod'];
          assert(kept.includes(label), `${title}: ${label}`);
        }
      }
    }
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ['datasource', 'controller', 'namespace'],
    );
  });

  test('shows no panel over another, and none beside the page', () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      const { x, y, w, h } = gridPos;
      assert(x + w <= 24, title);
      for (let column = x; column < x + w; column++) {
        for (let line = y; line < y + h; line++) {
          assert(!taken.has(`${column}/${line}`), title);
          taken.add(`${column}/${line}`);
        }
      }
    }
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  });
});

describe('the metrics of an expression', () => {
  for (const [expr, wanted] of [
    ['absent(up{job="a"})', ['up']],
    ['max by (phase) (plumbline_databases) > 512 * 1024', ['plumbline_databases']],
    [
      'rate(a_total{x="}", y=~"b|c"}[5m]) / on (namespace) b_total unless on (x) c == bool 1',
      ['a_total', 'b_total', 'c'],
    ],
    ['histogram_quantile(0.99, sum by (le) (rate(a_bucket[1m]))) and a offset 5m', ['a_bucket', 'a']],
    ['min by (x) (a) - time() or vector(1)', ['a']],
  ] as const) {
    test(expr, () => {
      assert.deepEqual(
        selectorsIn(expr).map(({ metric }) => metric),
        wanted,
      );
    });
  }
});
