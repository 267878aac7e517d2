import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { Manifest } from '../../../constructs/manifest.ts';

export const repository = { url: 'https://git.example/databases.git' };

/** The manifests that constructs make. */
export function manifestsOf(fill: (chart: Construct) => unknown): readonly Manifest[] {
  const chart = new Chart(new App(), 'argo', { disableResourceNameHashes: true });
  fill(chart);
  return chart.toJson() as readonly Manifest[];
}

/** The one manifest that a construct makes. */
export function manifestOf(fill: (chart: Construct) => unknown): Manifest {
  const [manifest] = manifestsOf(fill);
  if (manifest === undefined) throw new Error('The construct makes nothing.');
  return manifest;
}
