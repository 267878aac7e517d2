import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Executables that are built from one Go module of this repository, which pins the versions of all that goes into them. */
export interface GoModule<Name extends string = string> {
  /** What a person calls it, with the version: `Kubernetes v1.36.3`. */
  readonly title: string;
  readonly folder: string;
  /** The package that each executable is built from, the quickest first. */
  readonly packages: Readonly<Record<Name, string>>;
  readonly flags: readonly string[];
  /** Names everything that the executables are a function of; safe as the name of a folder. */
  readonly key: string;
}

export interface GoModuleProps<Name extends string> {
  /** What a person calls it, without the version. */
  readonly name: string;
  readonly folder: string;
  readonly version: string;
  readonly packages: Readonly<Record<Name, string>>;
  /** Variables of Go packages that the linker sets: version numbers, mostly. Defaults to none. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

export function goModule<Name extends string>(props: GoModuleProps<Name>): GoModule<Name> {
  const { name, folder, version, packages, variables = {} } = props;
  const settings = Object.entries(variables).map(([variable, value]) => ` -X ${variable}=${value}`);
  const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', `-ldflags=-s -w${settings.join('')}`];
  const hash = createHash('sha256');
  for (const file of sourcesIn(folder)) hash.update(readFileSync(join(folder, file)));
  hash.update(JSON.stringify([packages, flags]));
  const key = [version, process.platform, process.arch, hash.digest('hex').slice(0, 12)].join('-');
  return { title: `${name} ${version}`, folder, packages, flags, key };
}

/** The pins, and the programs that are this repository's own. */
function sourcesIn(folder: string): readonly string[] {
  const programs = readdirSync(folder).filter((name) => name.endsWith('.go'));
  return ['go.mod', 'go.sum', ...programs.toSorted()];
}

/** What a line of a module's go.mod says. @throws when no line matches. */
export function pinned(folder: string, pattern: string): string {
  const version = new RegExp(pattern, 'm').exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${folder}/go.mod has no line that matches ${pattern}.`);
  return version;
}
