import { Command, Option } from 'commander';
import { whyNoNode } from '../cluster/index.ts';
import { exitCodeOf } from '../exit-code.ts';
import { Report } from './report.ts';
import { ownCluster, namedCluster } from './target.ts';
import { tour } from './tour.ts';
import { Workspace } from './workspace.ts';

interface Options {
  readonly context?: string;
  readonly node: boolean;
  readonly keep: boolean;
  readonly json: boolean;
}

function parse(argv: readonly string[]): Options {
  const command = new Command('npm run quickstart --')
    .description('Takes one DatabaseService through all three deliveries on a real API server, and shows what happens.')
    .option('--context <name>', 'use this context of your kubeconfig instead of a control plane of its own')
    .addOption(
      new Option('--node', 'start a node too, so that PostgreSQL runs; as root on Linux')
        .default(false)
        .conflicts('context'),
    )
    .option('--keep', 'leave everything running at the end', false)
    .option('--json', 'print one JSON object at the end', false)
    .exitOverride()
    .allowExcessArguments(false);
  return command.parse([...argv], { from: 'user' }).opts<Options>();
}

async function main(argv: readonly string[]): Promise<number> {
  const options = parse(argv);
  const why = options.node ? whyNoNode() : undefined;
  if (why !== undefined) throw new Error(`--node cannot be had here: ${why}.`);
  const report = new Report(options.json);
  const workspace = new Workspace();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  try {
    const openTarget = () =>
      options.context === undefined ? ownCluster(report, options.keep, options.node) : namedCluster(options.context);
    // In a cluster of somebody's own, a name that nobody else uses.
    const namespace = options.context === undefined ? 'shop' : 'plumbline-quickstart';
    const { keep, node: hasNode } = options;
    const summary = await tour({ report, workspace, openTarget, namespace, keep, hasNode, signal: stop.signal });
    if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`);
    return summary.identical ? 0 : 1;
  } finally {
    if (!options.keep) workspace.remove();
  }
}

process.exitCode = await exitCodeOf(main(process.argv.slice(2)));
