import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** A package of somebody else's. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** As it states it, an SPDX expression as a rule; empty where it states none. */
  readonly licence: string;
  /** Where it is installed: `node_modules/cdk8s/node_modules/yaml`. */
  readonly path: string;
}

/** What the controller's file holds, by name. It is what the bundler says: of development dependencies too, and of no other. */
export async function inController(): Promise<readonly Package[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-bundle-'));
  try {
    const metafile = join(folder, 'meta.json');
    await bundle(join(folder, 'controller.mjs'), metafile);
    const { outputs } = JSON.parse(readFileSync(metafile, 'utf8')) as Metafile;
    const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
    return read(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What comes with the npm library when somebody installs it, by name. */
export function withLibrary(): readonly Package[] {
  const { peerDependencies } = JSON.parse(readFileSync(`${project}package.json`, 'utf8')) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  const { packages } = JSON.parse(readFileSync(`${project}package-lock.json`, 'utf8')) as Lock;
  const paths = Object.entries(packages).flatMap(([path, { dev }]) => (path === '' || dev === true ? [] : path));
  return read([...paths, ...Object.keys(peerDependencies).map((name) => `node_modules/${name}`)]);
}

function read(paths: readonly string[]): readonly Package[] {
  const packages = [...new Set(paths)].map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(`${project}${path}/package.json`, 'utf8')) as Described;
    return { name, version, licence: license ?? '', path };
  });
  return packages.sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version) || compare(a.path, b.path));
}

/** The same on every machine, whatever its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

interface Described {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}
