import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { prometheusPrograms, whyNoPrometheus } from '../../../cluster/index.ts';
import { run, TemporaryFolder } from '../../../commands/command.ts';
import { alertCases, type Firing, type Silence } from './alert-cases.ts';
import { bystanders } from './bystanders.ts';
import { dashboardExpressions, ruleFile, rules } from './rendered.ts';

const skip = whyNoPrometheus() ?? false;

/** Runs promtool on rules and maybe a file beside them, which it finds as `rules.yaml`. */
async function promtool(command: readonly string[], rules: object, beside: object = {}): Promise<string> {
  const { promtool } = await prometheusPrograms();
  using folder = new TemporaryFolder();
  writeFileSync(folder.in('rules.yaml'), JSON.stringify(rules));
  writeFileSync(folder.in('test.yaml'), JSON.stringify(beside));
  const { code, stdout, stderr } = await run(promtool, command, { cwd: folder.path });
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
}

function minutesOf(duration: string | undefined): number {
  const [, count = '0', unit = 'm'] = /^(\d+)([mh])$/.exec(duration ?? '0m') ?? assert.fail(duration);
  return Number(count) * (unit === 'h' ? 60 : 1);
}

describe('alerts, by the word of promtool', { skip }, () => {
  test('are rules, and so are those of any other namespace', async () => {
    for (const props of [{}, { namespace: 'databases', watchNamespaces: ['shop'] }]) {
      const said = await promtool(['check', 'rules', 'rules.yaml'], ruleFile(props));
      assert.match(said, new RegExp(`SUCCESS: ${rules().length} rules found`));
    }
  });

  for (const { alert, labels, annotations, for: lasting } of rules()) {
    const { fires, silent } = alertCases[alert] ?? { fires: [], silent: [] };

    const told = ({ at, labels: more, summary, description }: Firing) => ({
      alertname: alert,
      eval_time: `${at}m`,
      exp_alerts: [
        {
          exp_labels: { severity: labels.severity, ...more },
          exp_annotations: { summary, description, runbook_url: annotations.runbook_url },
        },
      ],
    });
    const nothing = (at: number) => ({ alertname: alert, eval_time: `${at}m`, exp_alerts: [] });
    const input = ({ when, series }: Firing | Silence) => ({
      name: when,
      interval: '1m',
      input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
    });

    test(`${alert} is told when it is so, in the words of people, and at no other time`, async () => {
      const tests = [
        ...fires.map((one) => {
          const patience = minutesOf(lasting);
          const { since = 0 } = one;
          assert(one.at >= since + patience, `${one.when}: ${one.at}`);
          const before = patience === 0 ? [] : [nothing(since + patience - 1)];
          const series = { ...one.series, ...bystanders(one.series) };
          return { ...input({ ...one, series }), alert_rule_test: [...before, told(one)] };
        }),
        ...silent.map((one) => ({ ...input(one), alert_rule_test: one.at.map(nothing) })),
      ];
      await promtool(['test', 'rules', 'test.yaml'], ruleFile(), {
        rule_files: ['rules.yaml'],
        evaluation_interval: '1m',
        tests,
      });
    });
  }
});

test('every expression of the dashboard is one', { skip }, async () => {
  const recorded = dashboardExpressions().map((expr, index) => ({ record: `dashboard:${index}`, expr }));
  const said = await promtool(['check', 'rules', 'rules.yaml'], { groups: [{ name: 'dashboard', rules: recorded }] });
  assert.match(said, new RegExp(`SUCCESS: ${recorded.length} rules found`));
});
