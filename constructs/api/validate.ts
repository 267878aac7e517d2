import { openApiSchema } from './crd.ts';
import { readDocuments, type SourceDocument } from './document.ts';
import { checkMetadata } from './metadata.ts';
import { sentence, show, type Problem } from './problem.ts';
import { apiVersion, kind, type DatabaseServiceDocument } from './resource.ts';
import { check, isFields, withDefaults, type Node } from './schema-check.ts';

const properties = openApiSchema().properties ?? {};
const spec: Node = properties['spec'] ?? {};
const status: Node = properties['status'] ?? {};
const envelope = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** A document that broke rules; `message` lists all of them. */
export class InvalidResourceError extends Error {
  override readonly name = 'InvalidResourceError';
  readonly problems: readonly Problem[];
  constructor(what: string, problems: readonly Problem[]) {
    super(`${what} is not valid:\n${problems.map((problem) => `  ${sentence(problem)}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Gives the verdict that the API server gives on a creation, or, with `old`, on an update: no problems means accepted.
 * All problems are found at once.
 */
export function validateResource(resource: unknown, old?: unknown): readonly Problem[] {
  if (!isFields(resource))
    return [{ field: '', value: show(resource), rule: 'is not an object', remedy: 'write a DatabaseService' }];
  const foreign = checkEnvelope(resource);
  if (foreign.length > 0) return foreign;
  const unknown = Object.keys(resource)
    .filter((name) => !envelope.includes(name))
    .map((name) => ({
      field: name,
      value: show(resource[name]),
      rule: 'is not a known field',
      remedy: `known here: ${envelope.join(', ')}`,
    }));
  return [
    ...unknown,
    ...checkMetadata(resource['metadata']),
    ...checkSpec(resource['spec'], old),
    ...checkStatus(resource['status']),
  ];
}

/** Throws {@link InvalidResourceError} unless the resource is valid. */
export function assertValid(resource: unknown): asserts resource is DatabaseServiceDocument {
  const problems = validateResource(resource);
  if (problems.length > 0) throw new InvalidResourceError('The DatabaseService', problems);
}

/** One document of a file with what is wrong with it. */
export interface Judged {
  readonly resource: DatabaseServiceDocument | undefined;
  readonly problems: readonly Problem[];
}

/** Reads and judges all DatabaseServices of a YAML text. Problems carry their line. */
export function validateText(text: string): readonly Judged[] {
  const { documents, problems } = readDocuments(text);
  const unreadable: Judged[] = problems.length > 0 ? [{ resource: undefined, problems }] : [];
  return [...unreadable, ...documents.map(judge)];
}

/** Judges one document as it was read. */
export function judge(document: SourceDocument): Judged {
  const problems = validateResource(document.value).map((problem) => locate(problem, document));
  return { resource: problems.length === 0 ? (document.value as DatabaseServiceDocument) : undefined, problems };
}

function locate(problem: Problem, document: SourceDocument): Problem {
  const line = document.line(problem.field);
  const written = document.source(problem.field);
  // 1.10 must not be shown as 1.1: quote what stands in the file.
  const remedy =
    problem.remedy.startsWith('write it in quotes') && written ? `write it in quotes: "${written}"` : problem.remedy;
  const value = problem.value !== undefined && written && /^[-+\d.]/.test(problem.value) ? written : problem.value;
  return { ...problem, line, remedy, value };
}

function checkEnvelope(resource: Readonly<Record<string, unknown>>): readonly Problem[] {
  const expected = { apiVersion, kind } as const;
  return (['apiVersion', 'kind'] as const)
    .filter((name) => resource[name] !== expected[name])
    .map((name) => ({
      field: name,
      value: show(resource[name]),
      rule: 'is not a DatabaseService',
      remedy: `write ${name}: ${expected[name]}`,
    }));
}

function checkSpec(value: unknown, old: unknown): readonly Problem[] {
  if (value === undefined)
    return [
      { field: 'spec', value: undefined, rule: 'is required', remedy: 'say at least engine, version and storage' },
    ];
  const before = isFields(old) ? withDefaults(spec, old['spec']) : undefined;
  return check(spec, withDefaults(spec, value), 'spec', before);
}

/** A status in a document is ignored by the API server, but its field names are checked like all others. */
function checkStatus(value: unknown): readonly Problem[] {
  if (!isFields(value)) return [];
  return check(status, value, 'status').filter((problem) => problem.rule === 'is not a known field');
}
