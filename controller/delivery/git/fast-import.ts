export interface Author {
  readonly name: string;
  readonly email: string;
}

export interface FileWrite {
  readonly path: string;
  readonly content: string;
}

export interface NewCommit {
  /** None: the first commit of the branch. */
  readonly parents: readonly string[];
  /** The tree, or commit, that files are written to and deleted from. Defaults to the first parent's. */
  readonly onto?: string | undefined;
  readonly ref: string;
  readonly author: Author;
  readonly epochSeconds: number;
  readonly message: string;
  readonly writes: readonly FileWrite[];
  readonly deletes: readonly string[];
}

/**
 * The commit as a stream for `git fast-import`, which prints its hash. One process for any number of files, and no work
 * tree: so no link to follow out of it, no hook, filter or line-end conversion.
 */
export function fastImportStream(commit: NewCommit): Buffer {
  const { parents, onto, author, message, writes, deletes } = commit;
  const parts: string[] = [
    'feature done\n',
    `commit ${commit.ref}\n`,
    'mark :1\n',
    `committer ${identity(author)} ${commit.epochSeconds} +0000\n`,
    data(message),
    ...parents.map((parent, i) => `${i === 0 ? 'from' : 'merge'} ${parent}\n`),
    ...(onto === undefined || onto === parents[0] ? [] : [`M 040000 ${onto} ""\n`]),
    ...deletes.map((path) => `D ${quote(path)}\n`),
    ...writes.map(({ path, content }) => `M 100644 inline ${quote(path)}\n${data(content)}`),
    'get-mark :1\n',
    'done\n',
  ];
  return Buffer.from(parts.join(''));
}

/** The same author and time, for the other git commands that make commits. */
export function identityVariables({ author, epochSeconds }: Pick<NewCommit, 'author' | 'epochSeconds'>) {
  const [name, email, date] = [withoutMarks(author.name), withoutMarks(author.email), `@${epochSeconds} +0000`];
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}

function identity({ name, email }: Author): string {
  return `${withoutMarks(name)} <${withoutMarks(email)}>`;
}

/** Neither git's separators nor line ends. */
function withoutMarks(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, '').trim();
}

/** Counted in bytes. */
function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** C-style quotes, since what is deleted may have been named by others before it got our label. */
function quote(path: string): string {
  const escaped = path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `"${escaped}"`;
}
