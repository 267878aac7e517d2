/** What the next commit of a branch goes on top of. */
export interface Base {
  /** The newest commit of the branch; undefined where there is no branch yet. */
  readonly tip: string | undefined;
  readonly parents: readonly string[];
  /** A commit or tree that has what is there before the commit changes something; undefined: nothing. */
  readonly onto: string | undefined;
}

/** On the branch itself, which moves forward. */
export function baseOn(tip: string | undefined): Base {
  return { tip, parents: tip === undefined ? [] : [tip], onto: tip };
}
