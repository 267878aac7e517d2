/** What looks like a secret in a tracked file, and why it is none. */
export const reasons: readonly { readonly path: string; readonly text: string; readonly why: string }[] = [
  {
    path: 'test/constructs/postgresql/credentials.test.ts',
    text: 'p%40ss%3Aw%2Fo%3Fr%23d%2541%20%27%22%5C%24x%7B%7D',
    why: 'every character that a URI has to encode; of no database',
  },
];
