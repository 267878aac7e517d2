import type { Construct } from 'constructs';
import { oldestSupportedMajor } from '../../api/fields/version.ts';
import { group, plural } from '../../api/resource.ts';
import { policy } from './policy.ts';

const major = "int(object.spec.version.split('.')[0])";

/** Warns of a version that gets no fixes any more. Such a database is looked after like any other. */
export function unsupportedVersion(scope: Construct): void {
  policy(scope, {
    name: `unsupported-version.${group}`,
    matches: { apiGroups: [group], apiVersions: ['*'], resources: [plural], operations: ['CREATE', 'UPDATE'] },
    validation: {
      expression: `${major} >= ${oldestSupportedMajor}`,
      messageExpression: `'PostgreSQL ' + string(${major}) + ' is out of support and gets no fixes any more: plan a move to ${oldestSupportedMajor} or newer'`,
      message: 'this major version of PostgreSQL is out of support',
    },
    action: 'Warn',
  });
}
