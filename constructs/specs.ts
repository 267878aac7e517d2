import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Problem } from './api/problem.ts';
import { sentence } from './api/problem.ts';
import type { DatabaseServiceDocument } from './api/resource.ts';
import { validateText } from './api/validate.ts';

/** What a folder of specs holds: all databases, or all that is wrong with them. */
export interface Specs {
  readonly databases: readonly DatabaseServiceDocument[];
  /** Lines such as `examples/orders.yaml:7: spec.version: 17 must be text`; empty when all files are valid. */
  readonly errors: readonly string[];
}

/** Reads every `*.yaml` and `*.yml` below a folder, in the order of their paths. */
export function readSpecs(folder: string): Specs {
  const files = specFiles(folder);
  if (files === undefined)
    return { databases: [], errors: [`${folder}: cannot be read: name a folder of DatabaseService files`] };
  if (files.length === 0)
    return { databases: [], errors: [`${folder}: holds no *.yaml file: write a DatabaseService there`] };
  const errors: string[] = [];
  const found = new Map<string, { readonly database: DatabaseServiceDocument; readonly place: string }>();
  for (const file of files) {
    for (const { resource: database, problems, line } of validateText(readFileSync(file))) {
      errors.push(...problems.map((problem) => located(file, problem)));
      if (!database) continue;
      const { namespace, name } = database.metadata;
      const place = `${shown(file)}:${line('metadata.name')}`;
      const first = found.get(`${namespace}/${name}`);
      if (name === undefined) {
        errors.push(`${place}: metadata.name: is required here: generateName is for kubectl create`);
      } else if (namespace === undefined) {
        errors.push(`${place}: metadata.namespace: is required here: every namespace has a folder of its own`);
      } else if (first !== undefined) {
        errors.push(`${place}: metadata.name: ${namespace}/${name} stands at ${first.place} already`);
      } else {
        found.set(`${namespace}/${name}`, { database, place });
      }
    }
  }
  return { databases: [...found.values()].map(({ database }) => database), errors };
}

function specFiles(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return undefined;
  }
}

function located(file: string, problem: Problem): string {
  return `${shown(file)}:${problem.line ?? 1}: ${sentence(problem)}`;
}

function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
