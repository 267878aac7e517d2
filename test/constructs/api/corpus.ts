import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocuments } from '../../../constructs/api/document.ts';

/** One file of test/fixtures/specs, or of another corpus, with what its first comment lines say about it. */
export interface CorpusFile {
  /** File name without its ending. */
  readonly name: string;
  readonly text: string;
  /** `# field:` the field that the verdict must name; undefined where the document is valid. */
  readonly field: string | undefined;
  /** `# says:` what the offline messages must contain. */
  readonly says: readonly string[];
  /** `# server:` what the server's answer must contain where it cannot name the field. */
  readonly server: string | undefined;
  /** `# line:` where the first problem stands. */
  readonly line: number | undefined;
  /** `# documents:` how many valid ones there are. */
  readonly documents: number | undefined;
}

export interface Transition {
  readonly name: string;
  readonly before: CorpusFile;
  readonly after: CorpusFile;
}

const fixtures = join(import.meta.dirname, '../../fixtures');
const folder = join(fixtures, 'specs');

/** GitDestinations; the others are DatabaseServices. */
export function destinationCorpus(kind: 'valid' | 'invalid'): readonly CorpusFile[] {
  return filesIn(join(fixtures, 'git-destinations'), kind);
}

export function corpus(kind: 'valid' | 'invalid' | 'offline'): readonly CorpusFile[] {
  return filesIn(folder, kind);
}

function filesIn(folder: string, kind: string): readonly CorpusFile[] {
  return readdirSync(join(folder, kind))
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => corpusFile(join(folder, kind, file), file.slice(0, -'.yaml'.length)));
}

export function transitions(): readonly Transition[] {
  return readdirSync(join(folder, 'transitions'))
    .sort()
    .map((name) => ({
      name,
      before: corpusFile(join(folder, 'transitions', name, 'before.yaml'), `${name}/before`),
      after: corpusFile(join(folder, 'transitions', name, 'after.yaml'), `${name}/after`),
    }));
}

/** The namespace that a request for this document goes to. */
export function namespaceOf(text: string, otherwise: string): string {
  const value = readDocuments(text).documents[0]?.value as { metadata?: { namespace?: unknown } } | undefined;
  const namespace = value?.metadata?.namespace;
  return typeof namespace === 'string' && /^[a-z]+$/.test(namespace) ? namespace : otherwise;
}

function corpusFile(path: string, name: string): CorpusFile {
  const text = readFileSync(path, 'utf8');
  const said = (key: string): readonly string[] =>
    Array.from(text.matchAll(new RegExp(`^# ${key}: ?(.*)$`, 'gm')), ([, value = '']) => value);
  const number = (key: string): number | undefined => (said(key)[0] === undefined ? undefined : Number(said(key)[0]));
  return {
    name,
    text,
    field: said('field')[0],
    says: said('says'),
    server: said('server')[0],
    line: number('line'),
    documents: number('documents'),
  };
}
