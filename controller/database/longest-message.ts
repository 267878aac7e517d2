/** The most characters of a condition's message: enough for people, and a status that stays small. */
export const longestMessage = 2_000;
