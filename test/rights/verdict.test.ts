import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseRights, destinationRights, leaseRights, metricsRights } from '../../constructs/install/rights.ts';
import { rightsIn } from '../constructs/install/right.ts';
import { seldomRights, unseenRights } from './reasons.ts';
import type { RightsRecord } from './record.ts';
import { rightsComplaints } from './verdict.ts';

const seen = rightsIn([...databaseRights, ...destinationRights, ...leaseRights]).filter(
  (right) => !unseenRights.has(right) && !seldomRights.has(right),
);
const controlPlane: RightsRecord = { used: seen, refused: [] };
const node: RightsRecord = { used: rightsIn(metricsRights), refused: [] };

describe('the rights of the controller', () => {
  test('are as they should be where a whole run uses all of them, wherever', () => {
    assert.deepEqual(rightsComplaints([controlPlane, node], true), []);
  });

  test('are too many where a whole run leaves one unused', () => {
    const used = seen.filter((right) => right !== 'delete apps/statefulsets');
    const [complaint, ...others] = rightsComplaints([{ ...controlPlane, used }, node], true);
    assert.match(complaint ?? '', /^No controller of any test used "delete apps\/statefulsets": /);
    assert.deepEqual(others, []);
  });

  test('are not called too many by a run that is not whole', () => {
    assert.deepEqual(rightsComplaints([{ ...controlPlane, used: [] }], false), []);
  });

  test('are too few where a controller was refused one, in whichever run', () => {
    const complaints = rightsComplaints([{ ...node, refused: ['get nodes'] }], false);
    assert.deepEqual(complaints, [
      'A controller was refused "get nodes": add it to constructs/install/rights.ts, or do not ask for it.',
    ]);
  });

  test('are not too few where it only found out what it may', () => {
    const refused = ['list plumbline.dev/gitdestinations'];
    assert.deepEqual(rightsComplaints([{ ...controlPlane, refused }], false), []);
  });

  test('have no reason to be held unseen where one is seen', () => {
    const [complaint] = rightsComplaints([{ ...node, used: ['get pods'] }], false);
    assert.match(complaint ?? '', /^The right "get pods" is used/);
  });
});
