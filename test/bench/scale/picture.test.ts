import assert from 'node:assert/strict';
import test from 'node:test';
import { drawPicture } from './picture.ts';

const stage = (databases: number) => ({
  databases,
  created: databases,
  createdSeconds: databases * 0.15,
  floorSeconds: 0.12,
  peakMiB: 90 + databases / 50,
  restingMiB: 80 + databases / 50,
  restartedMiB: 85 + databases / 50,
  restartSeconds: databases / 600,
  editMedianMs: 60,
  editP95Ms: 120,
  eventLoopP99Ms: 30,
  eventLoopWhileEditedP99Ms: 40,
  controllerCpuMs: 60,
  apiServerCpuMs: 150,
  etcdCpuMs: 20,
});

test('a picture shows each stage in each panel, from left to right', () => {
  const svg = drawPicture([stage(200), stage(1000), stage(5000)]);
  assert.equal(svg.match(/<g transform/g)?.length, 6);
  for (const label of ['200', '1,000', '5,000']) {
    const places = [...svg.matchAll(new RegExp(`<text x="([\\d.]+)" y="[\\d.]+" text-anchor="middle">${label}<`, 'g'))];
    assert.equal(places.length, 6, label);
  }
  const restart = /<polyline points="([^"]+)"/.exec(svg.slice(svg.indexOf('Restart')))?.[1] ?? '';
  const points = restart.split(' ').map((point) => point.split(',').map(Number));
  assert.deepEqual(
    points,
    points.toSorted(([a = 0], [b = 0]) => a - b),
  );
  // What is more is higher, so nearer to 0.
  assert.deepEqual(
    points,
    points.toSorted(([, a = 0], [, b = 0]) => b - a),
  );
});

test('a picture leaves out what a run that was cut off has not measured', () => {
  const { restartSeconds: _, editMedianMs, ...cut } = stage(5000);
  const svg = drawPicture([stage(1000), cut]);
  assert.ok(editMedianMs > 0);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
});

test('the same figures give the same bytes', () => {
  assert.equal(drawPicture([stage(1000)]), drawPicture([stage(1000)]));
});
