import {
  databaseRights,
  destinationRights,
  destinationSecretRights,
  leaseRights,
  metricsRights,
} from '../../constructs/install/rights.ts';
import { rightsIn, type Right } from '../constructs/install/right.ts';
import { expectedRefusals, seldomRights, unseenRights } from './reasons.ts';
import type { RightsRecord } from './record.ts';

const rules = 'constructs/install/rights.ts';
const reasons = 'test/rights/reasons.ts';

const held: readonly Right[] = [
  ...new Set(
    rightsIn([...databaseRights, ...destinationRights, ...destinationSecretRights, ...leaseRights, ...metricsRights]),
  ),
];

/**
 * Compares the rights of the controller with what all controllers of a run made use of.
 *
 * @param isWhole every test has run to its end; of a run that is not whole it can't be said that it left a right unused
 * @returns one sentence for each right that was lacking, is not used, or is used and said not to be
 */
export function rightsComplaints(records: readonly RightsRecord[], isWhole: boolean): readonly string[] {
  const refused = new Set(records.flatMap((record) => record.refused));
  const used = new Set(records.flatMap((record) => record.used));
  const lacking = [...refused].filter((right) => !expectedRefusals.has(right));
  const unused = held.filter((right) => ![used, unseenRights, seldomRights].some((known) => known.has(right)));
  const stale = [...unseenRights.keys()].filter((right) => used.has(right));
  return [
    ...lacking.map((right) => `A controller was refused "${right}": add it to ${rules}, or do not ask for it.`),
    ...stale.map((right) => `The right "${right}" is used by a controller: take it off ${reasons}.`),
    ...(isWhole ? unused : []).map(
      (right) => `No controller of any test used "${right}": take it off ${rules}, test it, or say why in ${reasons}.`,
    ),
  ];
}
