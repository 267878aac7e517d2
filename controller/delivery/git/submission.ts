import { hash } from 'node:crypto';
import { inspectFile } from './gate.ts';
import { checkFolder, folderOf, pathIn } from './repository-path.ts';

/** What a database's folder in Git should hold. */
export interface GitSubmission {
  readonly namespace: string;
  readonly name: string;
  /** Of the database alone. Defaults to `clusters/<cluster>/<namespace>/<name>`. */
  readonly folder?: string;
  /** Content by path inside the folder. Undefined: the database is gone, and so are its files. */
  readonly files: ReadonlyMap<string, string> | undefined;
  /** What must be in none of them. Defaults to nothing. */
  readonly passwords?: readonly string[];
  /**
   * What others changed in the files: `restored` (default) is written again; `left` stays until other files are wanted.
   */
  readonly foreign?: 'restored' | 'left';
  /**
   * Whether the branch had exactly these files at some time, as far as its caller knows: then what differs was changed by others. Where nothing
   * of them is there, it is not believed. Defaults to false; what the writer itself knows counts more.
   */
  readonly wasThere?: boolean;
  readonly change: {
    /** `metadata.generation` of the DatabaseService. */
    readonly generation: number;
    /** Why, for the reviewer: a line each, without secrets. */
    readonly summary: readonly string[];
  };
}

/** A submission that has passed every check. */
export interface CheckedSubmission {
  /** `namespace/name`, for people: a database that moves is in two folders for a moment. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly folder: string;
  readonly isRemoval: boolean;
  /** Of the files. */
  readonly hash: string;
  /** Others' changes are to be left. */
  readonly isLeft: boolean;
  /** Whether the branch had these files at some time: what differs now, others have changed. */
  readonly wasThere: 'yes' | 'supposedly' | 'no';
  /** Content by path in the repository. */
  readonly wanted: ReadonlyMap<string, string>;
  /** What each file is, for people, by path in the repository. */
  readonly things: ReadonlyMap<string, string>;
  readonly change: GitSubmission['change'];
}

/** @throws GitDeliveryError PathRefused, SecretRefused, ManifestUnreadable */
export function checkSubmission(
  cluster: string,
  submission: GitSubmission,
  { hash, wasThere }: Pick<CheckedSubmission, 'hash' | 'wasThere'>,
): CheckedSubmission {
  const { namespace, name, files, passwords, change } = submission;
  const folder = submittedFolder(cluster, submission);
  const wanted = new Map<string, string>();
  const things = new Map<string, string>();
  for (const [relativePath, content] of files ?? []) {
    const path = pathIn(folder, relativePath);
    wanted.set(path, content);
    things.set(path, inspectFile(path, content, passwords));
  }
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    folder,
    isRemoval: files === undefined,
    hash,
    isLeft: submission.foreign === 'left',
    wasThere,
    wanted,
    things,
    change,
  };
}

/** @throws GitDeliveryError PathRefused */
export function submittedFolder(cluster: string, { namespace, name, folder }: GitSubmission): string {
  return folder === undefined ? folderOf({ cluster, namespace, name }) : checkFolder(folder);
}

/** Equal for equal files, in whatever order they come. */
export function contentHash(files: GitSubmission['files']): string {
  const sorted = files === undefined ? undefined : [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(sorted) ?? 'removed', 'hex');
}
