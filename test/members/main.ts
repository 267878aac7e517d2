import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { imageOf } from '../../constructs/postgresql/images.ts';
import { exitCodeOf } from '../exit-code.ts';
import { BorrowedCluster } from './borrowed-cluster.ts';
import { runTests } from './run-tests.ts';

interface Options {
  readonly context: string;
  readonly image: string;
}

function parse(argv: readonly string[]): Options & { readonly names: readonly string[] } {
  const command = new Command('npm run test:members --')
    .description('Runs the tests of members on an existing cluster, such as kind, in namespaces of their own.')
    .argument('[names...]', 'tests to run, such as failover for failover.cluster.ts; defaults to all')
    .requiredOption('--context <name>', 'a context of your kubeconfig; no other cluster is touched')
    .option('--image <reference>', 'an image with PostgreSQL 17 that its nodes can pull', imageOf('17'))
    .exitOverride();
  command.parse([...argv], { from: 'user' });
  return { ...command.opts<Options>(), names: command.args };
}

async function main(argv: readonly string[]): Promise<number> {
  const { context, image, names } = parse(argv);
  const paths = names.length === 0 ? [pathOf('*')] : names.map(pathOf);
  const missing = names.find((name) => !existsSync(pathOf(name)));
  if (missing !== undefined) throw new Error(`There is no test ${missing}: ${pathOf(missing)} does not exist.`);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const say = (line: string): boolean => process.stderr.write(`${line}\n`);
  const borrowed = await BorrowedCluster.borrow({ context, image, say });
  try {
    return await runTests(borrowed.cluster, paths, stop.signal);
  } finally {
    await borrowed.giveBack();
  }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../postgresql/${name}.cluster.ts`, import.meta.url));
}

process.exitCode = await exitCodeOf(main(process.argv.slice(2)));
