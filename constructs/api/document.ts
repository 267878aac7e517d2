import {
  isMap,
  isPair,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
  type ScalarTag,
} from 'yaml';
import { join, type Problem } from './problem.ts';

/** One document of a file, read as the API server reads it. */
export interface SourceDocument {
  readonly value: unknown;
  /** Line of a field, from 1, or of the nearest field above it that exists. */
  line(field: string): number;
  /** A scalar as it is written in the file: `1.10` where the value is the number 1.1. */
  source(field: string): string | undefined;
}

export interface Source {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly Problem[];
}

/** The API server takes 3 MiB and etcd 1.5 MiB; a spec is a few kilobytes. */
const maxBytes = 1024 * 1024;

/**
 * Reads YAML as Kubernetes does: YAML 1.1 scalars as Go resolves them, so `on` is true, `0o17` is 15, and `1:30` and dates are text.
 * Sources: sigs.k8s.io/yaml, goyaml.v2 resolve.go
 */
export function readDocuments(text: string): Source {
  if (Buffer.byteLength(text) > maxBytes) {
    const rule = `is larger than ${maxBytes / 1024} KiB`;
    return {
      documents: [],
      problems: [
        { field: '', value: undefined, rule, remedy: 'one file holds the specs of databases and nothing else' },
      ],
    };
  }
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    version: '1.1',
    schema: 'failsafe',
    customTags: goScalars,
    merge: true,
    uniqueKeys: true,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const all = Array.isArray(parsed) ? parsed : [];
  const problems = all.flatMap((document) =>
    document.errors.map((error): Problem => {
      const line = lines.linePos(error.pos[0]).line;
      const rule = error.code === 'DUPLICATE_KEY' ? 'the same key stands twice' : `is not YAML: ${error.message}`;
      return { field: '', value: undefined, rule, remedy: '', line };
    }),
  );
  const documents = all.filter((document) => document.errors.length === 0 && document.contents !== null);
  if (problems.length === 0 && documents.length === 0) {
    return {
      documents: [],
      problems: [{ field: '', value: undefined, rule: 'holds no document', remedy: 'write a DatabaseService' }],
    };
  }
  const read = readAll(documents, lines);
  return { documents: read.documents, problems: [...problems, ...read.problems] };
}

function readAll(documents: readonly Document[], lines: LineCounter): Source {
  const read: SourceDocument[] = [];
  const problems: Problem[] = [];
  for (const document of documents) {
    try {
      read.push(sourceDocument(document, lines));
    } catch (error) {
      const rule = `is not YAML: ${error instanceof Error ? error.message : String(error)}`;
      problems.push({ field: '', value: undefined, rule, remedy: '' });
    }
  }
  return { documents: read, problems };
}

function sourceDocument(document: Document, lines: LineCounter): SourceDocument {
  const nodes = new Map<string, { offset: number; source: string | undefined }>();
  index(document.contents, '', nodes);
  return {
    value: document.toJS({ maxAliasCount: 100 }),
    line: (field) => lines.linePos(nearest(nodes, field)).line,
    source: (field) => nodes.get(field)?.source,
  };
}

function nearest(nodes: ReadonlyMap<string, { offset: number }>, field: string): number {
  for (let at = field; at !== ''; at = at.replace(/(\.[^.[\]]*|\[[^\]]*\]|^[^.[\]]+)$/, '')) {
    const found = nodes.get(at);
    if (found) return found.offset;
  }
  return nodes.get('')?.offset ?? 0;
}

function index(node: unknown, path: string, nodes: Map<string, { offset: number; source: string | undefined }>): void {
  const offset = (node as Partial<Node> | null)?.range?.[0] ?? 0;
  if (!nodes.has(path)) nodes.set(path, { offset, source: isScalar(node) ? node.source : undefined });
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) continue;
      const field = join(path, String(pair.key.value));
      nodes.set(field, {
        offset: pair.key.range?.[0] ?? offset,
        source: isScalar(pair.value) ? pair.value.source : undefined,
      });
      index(pair.value, field, nodes);
    }
  } else if (node !== null && typeof node === 'object' && 'items' in node && Array.isArray(node.items)) {
    node.items.forEach((item, position) => index(item, join(path, position), nodes));
  }
}

const words = (list: string): RegExp => new RegExp(`^(?:${list})$`);
const tag = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  default: true,
  tag: `tag:yaml.org,2002:${name}`,
  test,
  resolve,
});

const goScalars: ScalarTag[] = [
  tag('null', words('~|null|Null|NULL|'), () => null),
  tag('bool', words('y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON'), () => true),
  tag('bool', words('n|N|no|No|NO|false|False|FALSE|off|Off|OFF'), () => false),
  tag('int', /^[-+]?0[xX][0-9a-fA-F_]+$/, (text) => based(text, 16, 2)),
  tag('int', /^[-+]?0[bB][01_]+$/, (text) => based(text, 2, 2)),
  tag('int', /^[-+]?0[oO][0-7_]+$/, (text) => based(text, 8, 2)),
  tag('int', /^[-+]?0[0-7_]+$/, (text) => based(text, 8, 1)),
  tag('float', /^[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9_]+)?$/, (text) =>
    Number(text.replaceAll('_', '')),
  ),
  tag('float', words('[-+]?\\.(inf|Inf|INF)'), (text) => (text.startsWith('-') ? -Infinity : Infinity)),
  tag('float', words('\\.(nan|NaN|NAN)'), () => NaN),
];

function based(text: string, base: number, prefix: number): number {
  const digits = text.replaceAll('_', '').replace(/^[-+]/, '').slice(prefix);
  return (text.startsWith('-') ? -1 : 1) * Number.parseInt(digits, base);
}
