import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { group } from '../api/resource.ts';
import type { Manifest } from '../manifest.ts';
import { fileName } from '../render.ts';
import { DatabaseServiceApi } from './api.ts';
import { Installation } from './installation.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import type { MonitoringProps } from './monitoring/options.ts';
import type { InstallationProps } from './options.ts';
import { settingsOf } from './settings.ts';

/** Names of files and what is in them. `kubectl` takes the files of a folder in the order of their names. */
export type Files = readonly (readonly [string, Manifest])[];

/**
 * The API. Its definitions come first in both directions: where somebody deletes the folder, its policy has to be there still to refuse that.
 */
export function apiFiles(): Files {
  const manifests = chartOf((chart) => new DatabaseServiceApi(chart, 'api'));
  return manifests.map((manifest) => [
    manifest.kind === 'CustomResourceDefinition' ? definitionFile(manifest) : fileName(manifest),
    manifest,
  ]);
}

/** As in `crds/`. */
function definitionFile({ metadata }: Manifest): string {
  return `${group}_${metadata.name.split('.', 1).join()}.yaml`;
}

/** The controller, numbered in the order in which the objects need each other: the namespace before what is in it. */
export function installationFiles(props: InstallationProps = {}): Files {
  const { namespace: own } = settingsOf(props);
  const manifests = chartOf((chart) => new Installation(chart, 'plumbline', props));
  return manifests.map((manifest, index) => {
    const { namespace = own } = manifest.metadata;
    const place = namespace === own ? '' : `${namespace}.`;
    return [`${String(index + 1).padStart(2, '0')}-${place}${fileName(manifest)}`, manifest];
  });
}

/** How the Prometheus operator finds the controller, alerts and a dashboard: for clusters that have its kinds. */
export function monitoringFiles(props: MonitoringProps = {}): Files {
  return chartOf((chart) => new Monitoring(chart, 'monitoring', props)).map((manifest) => [
    fileName(manifest),
    manifest,
  ]);
}

function chartOf(fill: (chart: Construct) => unknown): readonly Manifest[] {
  const chart = new Chart(new App(), 'installation', { disableResourceNameHashes: true });
  fill(chart);
  return chart.toJson() as readonly Manifest[];
}
