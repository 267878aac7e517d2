import { constants } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { whyNoNode } from '../cluster/index.ts';
import { exitCodeOf } from '../exit-code.ts';
import { requireGit } from './git.ts';
import { Report } from './report.ts';
import { Started } from './started.ts';
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
    .option('--context <name>', 'use this context of your kubeconfig instead of a control plane of its own', named)
    .addOption(
      new Option('--node', 'start a node too, so that PostgreSQL runs; as root on Linux')
        .default(false)
        .conflicts('context'),
    )
    .option('--keep', 'leave everything running at the end, also when a step fails; Ctrl-C ends it all the same', false)
    .option('--json', 'print one JSON object at the end', false)
    .exitOverride()
    .allowExcessArguments(false);
  return command.parse([...argv], { from: 'user' }).opts<Options>();
}

function named(context: string): string {
  if (context === '') throw new InvalidArgumentError('It names no context.');
  return context;
}

async function main(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const { context, keep, node: hasNode, json } = parse(argv);
  requireGit();
  const why = hasNode ? whyNoNode() : undefined;
  if (why !== undefined) throw new Error(`--node cannot be had here: ${why}.`);
  const report = new Report(json);
  const workspace = new Workspace();
  const started = new Started(report, workspace);
  try {
    const openTarget = () =>
      context === undefined ? ownCluster({ report, keep, hasNode, signal }) : namedCluster(context, signal);
    // In a cluster of somebody's own, a name that nobody else uses.
    const namespace = context === undefined ? 'shop' : 'plumbline-quickstart';
    const summary = await tour({ report, workspace, started, openTarget, namespace, keep, hasNode, signal });
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
    return summary.identical ? 0 : 1;
  } catch (error) {
    // What a signal has ended fails in its own way; the signal is the cause.
    signal.throwIfAborted();
    throw error;
  } finally {
    await (keep && !signal.aborted ? started.keep() : started.end());
  }
}

const stop = new AbortController();
let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    stoppedBy ??= signal;
    stop.abort(new Error(`stopped by ${signal}`));
  });
}
const code = await exitCodeOf(main(process.argv.slice(2), stop.signal));
// A start that was under way goes on otherwise.
if (stoppedBy !== undefined) process.exit(128 + constants.signals[stoppedBy]);
process.exitCode = code;
