import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validateText } from '../constructs/api/validate.ts';
import { installationFiles } from '../constructs/install/files.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { fileName, render } from '../constructs/render.ts';
import { serialize } from '../constructs/serialize.ts';

/*
 * What `render()` gave for a few specs: `npm run golden` rewrites it, and the diff is reviewed. The output of a released renderer never changes,
 * for a change would restart databases.
 */
export const goldenFolder = fileURLToPath(new URL('fixtures/golden/', import.meta.url));
const input = 'spec.yaml';
/** An installation for some namespaces; the one for all is in dist/. */
const installationFolder = fileURLToPath(new URL('fixtures/installation/', import.meta.url));
const installationProps = { namespace: 'databases', watchNamespaces: ['shop', 'finance'] } as const;

/** File names and content of the installation. */
export function installationGoldenFiles(): ReadonlyMap<string, string> {
  return new Map(installationFiles(installationProps).map(([name, manifest]) => [name, serialize(manifest)]));
}

/** The same as it lies on disk. */
export function installationGoldenOnDisk(): ReadonlyMap<string, string> {
  const files = readdirSync(installationFolder);
  return new Map(files.map((file) => [file, readFileSync(join(installationFolder, file), 'utf8')]));
}

/** The folders, each with its spec. */
export function goldenNames(): readonly string[] {
  return readdirSync(goldenFolder).sort();
}

/** File names and content that belong beside the spec of a folder. */
export function goldenFiles(name: string): ReadonlyMap<string, string> {
  const [judged] = validateText(readFileSync(join(goldenFolder, name, input), 'utf8'));
  if (judged?.resource === undefined) throw new Error(`${name}/${input}: ${JSON.stringify(judged?.problems)}`);
  return new Map(render(judged.resource).map((manifest) => [fileName(manifest), serialize(withoutScripts(manifest))]));
}

/** What lies beside the spec of a folder. */
export function goldenOnDisk(name: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(goldenFolder, name)).filter((file) => file !== input);
  return new Map(files.map((file) => [file, readFileSync(join(goldenFolder, name, file), 'utf8')]));
}

/** The scripts are files of their own, so here their hash is enough: a change of one is one line in each folder. */
function withoutScripts(manifest: Manifest): Manifest {
  const data = manifest['data'] as Readonly<Record<string, string>> | undefined;
  if (manifest.kind !== 'ConfigMap' || data === undefined) return manifest;
  const hashed = Object.entries(data).map(([key, text]) => [key, /\.(sh|py)$/.test(key) ? sha256(text) : text]);
  return { ...manifest, data: Object.fromEntries(hashed) };
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

if (import.meta.main) {
  for (const name of goldenNames()) {
    for (const file of goldenOnDisk(name).keys()) rmSync(join(goldenFolder, name, file));
    for (const [file, text] of goldenFiles(name)) writeFileSync(join(goldenFolder, name, file), text);
  }
  rmSync(installationFolder, { recursive: true, force: true });
  mkdirSync(installationFolder);
  for (const [file, text] of installationGoldenFiles()) writeFileSync(join(installationFolder, file), text);
}
