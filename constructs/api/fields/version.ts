import { Type } from 'typebox';

/**
 * Older ones get no fixes any more. 14 has had its last in November 2026.
 * Source: https://www.postgresql.org/support/versioning/
 */
export const oldestSupportedMajor = 15;

export const Version = Type.String({
  description: `Version of the engine in quotes, such as "17" or "17.5"; majors 12 to 19. 12 to ${oldestSupportedMajor - 1} are out of support. The major cannot be changed yet.`,
  minLength: 1,
  maxLength: 16,
  'x-kubernetes-validations': [
    {
      rule: "self.matches('^1[2-9]([.][0-9]{1,4}){0,2}$')",
      message: 'must be a version of PostgreSQL with major 12 to 19, such as "17" or "17.5"',
    },
    {
      rule: "self.split('.')[0] == oldSelf.split('.')[0]",
      message: 'cannot be moved to another major: major upgrades are not done yet',
      reason: 'FieldValueForbidden',
    },
  ],
});
