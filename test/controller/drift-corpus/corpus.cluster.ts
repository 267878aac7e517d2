import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events } from '../../../controller/database/kinds.ts';
import { wholeSpec } from '../database/shop.ts';
import { Bench, type Outcome, type Result, type Specimen } from './bench.ts';
import { mutationsOf, type Mutation } from './mutations.ts';
import { secret } from './other-values.ts';
import { verbs, type Verb } from './writers.ts';

/** How many work at the same time; each field is changed in one of them, so that no two edits of it come soon after each other. */
const databases = 8;
/** Each mutation is made in so many ways; with CORPUS=whole in all. */
const ways = process.env['CORPUS'] === 'whole' ? verbs.length : 2;

/** What is done to one object, one edit after the other. */
type Queue = (() => Promise<void>)[];

const isRight: ReadonlySet<Outcome> = new Set(['drift', 'no drift', 'refused', 'inexpressible']);

test('each change of each field that is rendered, in many ways: told with its editor and put back, and nothing else is', async (t) => {
  const begin = Date.now();
  await using bench = await Bench.open();
  const { shop } = bench;
  const names = Array.from({ length: databases }, (_, n) => `db-${n}`);
  await Promise.all(names.map((name) => shop.create(name, wholeSpec)));
  const specimens = await Promise.all(names.map((name) => bench.specimens(name)));

  const counts = new Map<Outcome, number>();
  const misses: string[] = [];
  const note = (what: string, { outcome, words }: Result): void => {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (!isRight.has(outcome)) misses.push(`${outcome}: ${what}: ${words}`);
  };
  const queues = (specimens[0] ?? []).flatMap((_, index) =>
    queuesOf(
      specimens.flatMap((all) => all[index] ?? []),
      bench,
      note,
    ),
  );
  await Promise.all(queues.map(inTurn));

  const seconds = Math.round((Date.now() - begin) / 1000);
  const judged = (counts.get('drift') ?? 0) + (counts.get('no drift') ?? 0) + misses.length;
  const list = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  t.diagnostic(`${judged} cases judged in ${seconds} s: ${list}`);
  assert.deepEqual([...misses.sort(), ...bench.unexpected], []);
  assert(judged >= 1_500, `${judged} cases`);
  const told = [
    ...shop.running.logLines,
    ...(await shop.list(events)).map((event) => String(event['message'])),
    ...(await Promise.all(names.map(async (name) => JSON.stringify(await shop.status(name))))),
  ];
  assert.deepEqual(
    told.filter((text) => text.includes(secret)),
    [],
  );
});

/** @param same the same object of each database */
function queuesOf(same: readonly Specimen[], bench: Bench, note: (what: string, result: Result) => void): Queue[] {
  const queues: Queue[] = same.map(() => []);
  const mutations = same.map(({ stated, schema }) => mutationsOf(stated, schema));
  for (const n of (mutations[0] ?? []).keys()) {
    const at = n % same.length;
    const [specimen, mutation] = [same[at], mutations[at]?.[n]];
    if (specimen !== undefined && mutation !== undefined) {
      queues[at]?.push(() => inManyWays(specimen, mutation, n, bench, note));
    }
  }
  return queues;
}

let number = 0;

async function inManyWays(
  specimen: Specimen,
  mutation: Mutation,
  first: number,
  bench: Bench,
  note: (what: string, result: Result) => void,
): Promise<void> {
  let left = ways;
  for (const verb of waysOf(mutation, first)) {
    if (left === 0) return;
    const { kind, metadata } = specimen.stated;
    const result = await bench.run(specimen, mutation, verb, (number += 1));
    note(`${mutation.kind} ${mutation.place.join('/')} of ${kind} ${metadata.name} by ${verb}`, result);
    if (result.outcome === 'refused') return;
    if (result.outcome !== 'inexpressible') left -= 1;
  }
}

/** Another one first for each mutation; those that can do little before all others. */
function waysOf({ place }: Mutation, first: number): readonly Verb[] {
  const others = verbs.filter((verb) => verb !== 'scale');
  const turned = others.map((_, index) => others[(index + first) % others.length] ?? 'put');
  return place.join('.') === 'spec.replicas' ? ['scale', ...turned] : turned;
}

async function inTurn(queue: Queue): Promise<void> {
  for (const run of queue) await run();
}
