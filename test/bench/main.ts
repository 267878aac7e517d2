import { converge } from './converge.ts';
import { drift } from './drift.ts';
import { failover } from './failover.ts';
import { git } from './git.ts';
import { rollout } from './rollout.ts';
import { renderBench } from './render.ts';
import { scale } from './scale.ts';
import { steady } from './steady.ts';
import type { Bench, Figures, Result } from './figures.ts';

const benches: Readonly<Record<string, Bench>> = {
  render: renderBench,
  drift,
  steady,
  converge,
  failover,
  rollout,
  scale,
  git,
};

const usage = `usage: npm run bench -- NAME [TIMES] [--json], with NAME one of ${Object.keys(benches).join(', ')}; TIMES is for failover and rollout, and for scale and git the number of databases; --json leaves out the table\n`;

/** Runs one benchmark; the last line is one JSON object. A missed target is told, not punished: the exit code stays 0. */
async function main(args: readonly string[]): Promise<number> {
  const [name = '', times, ...rest] = args.filter((arg) => arg !== '--json');
  if (name === '--help' || name === '-h') {
    process.stdout.write(usage);
    return 0;
  }
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (bench === undefined || !/^[1-9][0-9]*$/.test(times ?? '1') || rest.length > 0) {
    process.stderr.write(usage);
    return 2;
  }
  const progress = (line: string): boolean => process.stderr.write(`${line}\n`);
  const results = [await bench(progress, times === undefined ? undefined : Number(times))].flat();
  if (!args.includes('--json')) results.forEach(print);
  const told = results.map(({ figures, targets }) => ({ figures: rounded(figures), targets }));
  const pass = results.every(isPassed);
  console.log(JSON.stringify({ bench: name, ...(told.length === 1 ? told[0] : { stages: told }), pass }));
  return 0;
}

function print({ figures, targets }: Result): void {
  const rows = Object.entries(figures).map(([figure, value]) => {
    const target = targets[figure];
    return [figure, { value: round(value), target: target === undefined ? '' : `≤ ${target}` }] as const;
  });
  console.table(Object.fromEntries(rows));
}

function isPassed({ figures, targets }: Result): boolean {
  return Object.entries(targets).every(([figure, most]) => (figures[figure] ?? Infinity) <= most);
}

function rounded(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]));
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

process.exitCode = await main(process.argv.slice(2));
