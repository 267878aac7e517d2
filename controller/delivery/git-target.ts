import type { GitSubmission } from './git/submission.ts';
import type { GitDelivery } from './git/writer.ts';

/** Where the files of a database go to. */
export type GitTarget =
  | {
      readonly kind: 'place';
      /** Of repository, branch and folder: another id is another place. */
      readonly id: string;
      /** How they get there: by another way they are delivered again. */
      readonly way: string;
      /** Says on a database that its files are here. */
      readonly finalizer: string;
      /** @throws GitDeliveryError */
      submit(submission: Omit<GitSubmission, 'folder'>): Promise<GitDelivery>;
    }
  /** Nowhere, for now; something that is watched will change that. */
  | { readonly kind: 'unusable'; readonly failure: string };
