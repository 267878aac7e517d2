/** About half of the time that the tests of members take, by the names of their files; what is not here is in the other group. */
export const secondHalf: readonly string[] = [
  'access',
  'cut-off-start',
  'failover',
  'monitoring',
  'rollout',
  'scratch',
  'setback',
  'start',
  'trouble',
];
