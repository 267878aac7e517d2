import { isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';
import { decode, fieldOf, type Decoded } from './go-yaml.ts';
import type { Problem } from './problem.ts';
import { sourceText, SourceTextError } from './source-text.ts';

/** One document of a file, read as the API server reads it. */
export interface SourceDocument {
  readonly value: unknown;
  /** What is wrong with it as YAML: keys that stand twice and the like. */
  readonly problems: readonly Problem[];
  /** Line of a field, from 1, or of the nearest field around it that exists. */
  line(field: string): number;
  /** A scalar as it is written in the file: `1.10` where the value is the number 1.1. */
  source(field: string): string | undefined;
}

export interface Source {
  readonly documents: readonly SourceDocument[];
  /** Why there is no document, or not every one. */
  readonly problems: readonly Problem[];
}

/** Reads the documents of a YAML file as Kubernetes does; see {@link sourceText} and {@link decode}. */
export function readDocuments(source: string | Uint8Array): Source {
  const lines = new LineCounter();
  try {
    const text = sourceText(source);
    const parsed = parseAllDocuments(text, { ...options, lineCounter: lines });
    const all: readonly Document[] = Array.isArray(parsed) ? parsed : [];
    const problems = all.flatMap((document) =>
      document.errors.map(({ message, pos }) => unreadable(`is not YAML: ${message}`, lines.linePos(pos[0]).line)),
    );
    const documents = all.filter(
      ({ errors, contents }) => errors.length === 0 && contents !== null && !isEmpty(contents),
    );
    if (problems.length === 0 && documents.length === 0)
      return { documents: [], problems: [unreadable('holds no document: write a DatabaseService')] };
    return { documents: documents.map((document) => sourceDocument(document, text, lines)), problems };
  } catch (error) {
    if (error instanceof SourceTextError) return { documents: [], problems: [unreadable(error.message, error.line)] };
    // The parser calls itself for what is nested.
    if (error instanceof RangeError) return { documents: [], problems: [unreadable('is nested too deeply')] };
    throw error;
  }
}

/** Scalars stay text here; {@link decode} gives them their values. */
const options = {
  version: '1.1',
  schema: 'failsafe',
  resolveKnownTags: false,
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

function unreadable(rule: string, line = 1): Problem {
  return { field: '', value: undefined, rule, remedy: '', line };
}

function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.source === '' && node.type === 'PLAIN' && node.anchor === undefined;
}

function sourceDocument({ contents }: Document, text: string, lines: LineCounter): SourceDocument {
  const { value, errors } = decode(contents, text);
  let known: Index | undefined;
  const indexed = (): Index => (known ??= index(contents, text));
  return {
    value,
    problems: errors.map((error) => problem(error, lines)),
    line: (field) => lines.linePos(nearest(indexed(), field)).line,
    source: (field) => indexed().get(field)?.source,
  };
}

function problem({ place, offset, message }: Decoded['errors'][number], lines: LineCounter): Problem {
  return { field: fieldOf(place), value: undefined, rule: message, remedy: '', line: lines.linePos(offset).line };
}

type Index = ReadonlyMap<string, { readonly offset: number; readonly source: string | undefined }>;

/** Every field with where it stands; built only for documents that have problems. */
function index(contents: unknown, text: string): Index {
  const found = new Map<string, { offset: number; source: string | undefined }>();
  decode(contents, text, (place, offset, node) => {
    found.set(fieldOf(place), { offset, source: isScalar(node) ? node.source : undefined });
  });
  return found;
}

function nearest(index: Index, field: string): number {
  for (let at = field; at !== ''; at = around(at)) {
    const found = index.get(at);
    if (found) return found.offset;
  }
  return index.get('')?.offset ?? 0;
}

function around(field: string): string {
  return field.replace(/(\.[^.[\]]*|\[[^\]]*\]|^[^.[\]]+|.)$/, '');
}
