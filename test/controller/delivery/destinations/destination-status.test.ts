import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredGitDestination } from '../../../../constructs/api/git-destination/resource.ts';
import {
  isDestinationStatus,
  nextDestinationStatus,
  type PlaceNews,
} from '../../../../controller/delivery/destinations/destination-status.ts';
import { GitDeliveryError } from '../../../../controller/delivery/git/git-delivery-error.ts';

const at = Date.UTC(2026, 0, 1);
const later = at + 60_000;
const destination: StoredGitDestination = {
  apiVersion: 'plumbline.dev/v1alpha1',
  kind: 'GitDestination',
  metadata: { name: 'main', uid: '1', resourceVersion: '1', generation: 3 },
  spec: { url: 'https://git.example/x' },
};
const pushed: PlaceNews = { failure: undefined, commit: 'abc', pushedAt: at, pending: 0, inReview: 0 };

describe('the status of a destination', () => {
  test('has the last commit and its time, which outlive the process that made it', () => {
    const status = nextDestinationStatus(destination, pushed, at);
    assert.deepEqual(status, {
      observedGeneration: 3,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Reached',
          message: 'The repository has what is to be in it.',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: 3,
        },
      ],
      lastCommit: 'abc',
      lastPushTime: '2026-01-01T00:00:00Z',
      pending: 0,
    });
    const afterRestart = { failure: undefined, commit: undefined, pushedAt: undefined, pending: 0, inReview: 0 };
    const next = nextDestinationStatus({ ...destination, status }, afterRestart, later);
    assert.ok(isDestinationStatus(next, status));
  });

  test('names a failure by its reason, says when it began, and how many wait', () => {
    const failure = new GitDeliveryError('HostKeyRefused', 'Host key verification failed.');
    const failed: PlaceNews = { ...pushed, failure, pending: 7 };
    const status = nextDestinationStatus(destination, failed, at);
    const again = nextDestinationStatus({ ...destination, status }, { ...failed, pending: 8 }, later);
    const [condition] = again.conditions ?? [];
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message, condition?.lastTransitionTime, again.pending],
      ['False', 'HostKeyRefused', 'Host key verification failed.', '2026-01-01T00:00:00Z', 8],
    );
    const well = nextDestinationStatus({ ...destination, status: again }, pushed, later);
    assert.equal(well.conditions?.[0]?.lastTransitionTime, '2026-01-01T00:01:00Z');
  });

  test('says how many wait to be merged where changes are reviewed', () => {
    const reviewed = { ...destination, spec: { ...destination.spec, pullRequest: {} } };
    assert.equal(nextDestinationStatus(reviewed, { ...pushed, inReview: 3 }, at).inReview, 3);
  });

  test('takes a failure that git knows nothing of in its words', () => {
    const status = nextDestinationStatus(destination, { ...pushed, failure: new Error('secrets is forbidden') }, at);
    assert.deepEqual(
      [status.conditions?.[0]?.reason, status.conditions?.[0]?.message],
      ['Failed', 'secrets is forbidden'],
    );
  });
});
