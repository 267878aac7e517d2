/** The first of several, with commas between them, and how many more there are: `a, b and 7 more`. */
export function firstFew(texts: readonly string[], most: number): string {
  const rest = texts.length - most;
  return texts.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
