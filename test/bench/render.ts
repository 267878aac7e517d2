import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { render } from '../../constructs/render.ts';
import { serialize } from '../../constructs/serialize.ts';
import { filesBelow } from '../commands/files-below.ts';
import { median, type Result } from './figures.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const repeats = 3;

/** One spec, 1,000 and 10,000 databases in process, and the whole command on 1,000 files. */
export async function renderBench(progress: (line: string) => void): Promise<Result> {
  loop(500);
  progress('in process: 1, 1,000 and 10,000 databases');
  const one = median(Array.from({ length: 200 }, () => loop(1)));
  const thousand = median(Array.from({ length: repeats }, () => loop(1000))) / 1000;
  const tenThousand = median(Array.from({ length: 3 }, () => loop(10_000))) / 10_000;
  progress(`npm run synth on 1,000 files, ${repeats} times`);
  const runs = Array.from({ length: repeats }, () => synthFiles(1000));
  const synth = median(runs.map(({ ms }) => ms));
  const writing = median(runs.map(({ writeMs }) => writeMs));
  return {
    figures: {
      oneMs: one,
      eachOf1000Ms: thousand,
      eachOf10000Ms: tenThousand,
      growth10000To1000: tenThousand / thousand,
      serializeEachMs: median(Array.from({ length: repeats }, () => serializeAll(200))) / 200,
      synth1000FilesSeconds: synth / 1000,
      plainWriteSeconds: writing / 1000,
      synthLessPlainWriteSeconds: (synth - writing) / 1000,
    },
    targets: { oneMs: 1, eachOf1000Ms: 1, eachOf10000Ms: 1, growth10000To1000: 1.3, synth1000FilesSeconds: 5 },
  };
}

function loop(count: number): number {
  const start = performance.now();
  for (let i = 0; i < count; i++) render(example(i));
  return performance.now() - start;
}

function serializeAll(count: number): number {
  const manifests = render(example(0));
  const start = performance.now();
  for (let i = 0; i < count; i++) for (const manifest of manifests) serialize(manifest);
  return performance.now() - start;
}

/** The whole command; and its floor, the same files copied by a plain loop to the same disk. */
function synthFiles(count: number): { readonly ms: number; readonly writeMs: number } {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-bench-'));
  try {
    const specs = join(folder, 'specs');
    mkdirSync(specs);
    for (let i = 0; i < count; i++) writeFileSync(join(specs, `orders-${i}.yaml`), JSON.stringify(example(i), null, 2));
    const start = performance.now();
    const args = ['constructs/synth.ts', '--specs', specs, '--output', join(folder, 'dist')];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
    if (status !== 0) throw new Error(`synth failed: ${stderr.slice(0, 1000)}`);
    const ms = performance.now() - start;
    return { ms, writeMs: plainWrite(join(folder, 'dist'), join(folder, 'copy')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function plainWrite(from: string, to: string): number {
  const files = Object.entries(filesBelow(from));
  const start = performance.now();
  for (const [name, text] of files) {
    const file = join(to, name);
    if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return performance.now() - start;
}

function example(index: number): DatabaseServiceDocument {
  return {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name: `orders-${index}`, namespace: 'shop' },
    spec: {
      engine: 'postgresql',
      version: '17',
      replicas: 3,
      durability: 'Sync',
      storage: { size: '10Gi' },
      parameters: { max_connections: '200', work_mem: '8MB' },
      backup: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', volume: { size: '20Gi' } },
    },
  };
}
