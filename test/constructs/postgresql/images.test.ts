import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exporterImage, imageOf, majorOf } from '../../../constructs/postgresql/images.ts';
import { exporterVersion } from '../../cluster/node/pins.ts';

const cases: readonly [version: string, tag: string][] = [
  ['18', '18.4-1'],
  ['17', '17.10-1'],
  ['16', '16.14-1'],
  ['15', '15.18-1'],
  ['14', '14.23-1'],
  ['13', '13.23-2'],
  ['12', '12'],
  ['19', '19'],
  ['17.9', '17.9'],
  ['17.9.1', '17.9-1'],
];
for (const [version, tag] of cases) {
  test(`version ${version} is image ${tag}`, () => {
    assert.equal(imageOf(version), `percona/percona-distribution-postgresql:${tag}`);
  });
}

test('the major of a version', () => {
  assert.deepEqual(['17', '17.9', '9.6.1'].map(majorOf), [17, 17, 9]);
});

test('the exporter that the tests run is the release that is rendered', () => {
  assert.equal(exporterImage.split(':').at(-1), exporterVersion);
});
