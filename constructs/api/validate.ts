import { readDocuments, type SourceDocument } from './document.ts';
import { metadataProblems, storedMetadata } from './metadata.ts';
import { sentence, show, type Problem } from './problem.ts';
import { databaseServiceKind, type ResourceKind } from './resource-kind.ts';
import { apiVersion, type DatabaseServiceDocument } from './resource.ts';
import { ruleProblems } from './rules.ts';
import { isFields, type Fields } from './schema-node.ts';
import { shapeProblems } from './shape.ts';
import { storedForm } from './stored-form.ts';
import { unknownFields } from './unknown-fields.ts';

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
 *
 * @param kind what it is to be
 */
export function validateResource(
  resource: unknown,
  old?: unknown,
  kind: ResourceKind = databaseServiceKind,
): readonly Problem[] {
  const { spec, status } = kind;
  if (!isFields(resource))
    return [{ field: '', value: show(resource), rule: 'is not an object', remedy: `write a ${kind.kind}` }];
  const foreign = envelopeProblems(resource, kind);
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
    ...metadataProblems(storedMetadata(resource['metadata']), kind),
    ...specProblems(resource['spec'], isFields(old) ? storedForm(spec, old['spec']) : undefined, kind),
    // The API server ignores a status that a user writes, but for fields that it does not know.
    ...unknownFields(status, resource['status'], 'status'),
  ];
}

/** Throws {@link InvalidResourceError} unless the resource is valid. */
export function assertValid(resource: unknown): asserts resource is DatabaseServiceDocument {
  const problems = validateResource(resource);
  if (problems.length > 0) throw new InvalidResourceError('The DatabaseService', problems);
}

/** One document of a file with what is wrong with it. */
export interface Judged {
  /** The resource as the API server would store it; undefined when it has problems. */
  readonly resource: DatabaseServiceDocument | undefined;
  readonly problems: readonly Problem[];
  /** Line of a field, from 1, or of the nearest field above it that is there. */
  readonly line: (field: string) => number;
}

/** Reads and judges all DatabaseServices of a YAML file, given as text or as bytes. Problems carry their line. */
export function validateText(source: string | Uint8Array): readonly Judged[] {
  const { documents, problems } = readDocuments(source);
  const unreadable: Judged[] = problems.length > 0 ? [{ resource: undefined, problems, line: () => 1 }] : [];
  return [...unreadable, ...documents.map(judge)];
}

/** Judges one document as it was read. */
export function judge(document: SourceDocument): Judged {
  // What could not be read has no value: that it is missing is no news.
  const problems = [
    ...document.problems,
    ...validateResource(document.value)
      .filter(({ field }) => !document.problems.some((problem) => problem.field === field))
      .map((problem) => locate(problem, document)),
  ];
  const resource = problems.length === 0 ? stored(document.value as DatabaseServiceDocument) : undefined;
  return { resource, problems, line: (field) => document.line(field) };
}

function stored({ apiVersion, kind, ...resource }: DatabaseServiceDocument): DatabaseServiceDocument {
  return {
    apiVersion,
    kind,
    metadata: storedMetadata(resource.metadata) as DatabaseServiceDocument['metadata'],
    spec: storedForm(databaseServiceKind.spec, resource.spec) as DatabaseServiceDocument['spec'],
  };
}

function locate(problem: Problem, document: SourceDocument): Problem {
  const line = document.line(problem.field);
  const written = document.source(problem.field);
  // 1.10 must not be shown as 1.1: quote what stands in the file.
  const remedy =
    problem.remedy.startsWith('write it in quotes') && written ? `write it in quotes: "${written}"` : problem.remedy;
  const value =
    problem.value !== undefined && written && /^([-+\d.]|true|false)/.test(problem.value) ? written : problem.value;
  return { ...problem, line, remedy, value };
}

function envelopeProblems(resource: Fields, { kind }: ResourceKind): readonly Problem[] {
  const expected = { apiVersion, kind } as const;
  return (['apiVersion', 'kind'] as const)
    .filter((name) => resource[name] !== expected[name])
    .map((name) => ({
      field: name,
      value: show(resource[name]),
      rule: `is not a ${kind}`,
      remedy: `write ${name}: ${expected[name]}`,
    }));
}

function specProblems(value: unknown, old: unknown, { spec, firstWords }: ResourceKind): readonly Problem[] {
  const stored = storedForm(spec, value);
  if (stored === undefined || stored === null)
    return [{ field: 'spec', value: undefined, rule: 'is required', remedy: firstWords }];
  const malformed = [...unknownFields(spec, value, 'spec'), ...shapeProblems(spec, stored, 'spec')];
  const rules = ruleProblems(
    spec,
    stored,
    'spec',
    old,
    malformed.map(({ field }) => field),
  );
  return [...malformed, ...rules];
}
