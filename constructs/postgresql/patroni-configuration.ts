import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { databaseLabel, informativeLabels, patroniLabels } from '../labels.ts';
import type { Database } from './defaults.ts';
import { asPatroniWritesIt, dynamicConfiguration } from './dynamic-configuration.ts';
import { memberConfiguration } from './member-configuration.ts';
import { scripts } from './scripts.ts';

/** The two ConfigMaps of Patroni: what it starts with, and its dynamic configuration. */
export function patroniConfiguration(scope: Construct, database: Database): void {
  const { name, namespace, names } = database;
  emit<V1ConfigMap>(scope, 'patroni', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: names.patroni,
      namespace,
      labels: { ...informativeLabels(name, 'database'), [databaseLabel]: name },
    },
    immutable: false,
    data: { ...scriptsOf(database), 'member.json': `${JSON.stringify(memberConfiguration(database), null, 2)}\n` },
  });
  emit<V1ConfigMap>(scope, 'patroni-config', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: names.patroniConfig,
      namespace,
      labels: { ...informativeLabels(name, 'database'), ...patroniLabels(name), [databaseLabel]: name },
      annotations: { config: asPatroniWritesIt(dynamicConfiguration(database)) },
    },
  });
}

/** Those of the exporter only where there is one: what is asked for by nobody changes no manifest of a database that is there. */
function scriptsOf({ monitoring }: Database): Readonly<Record<string, string>> {
  const { 'exporter.sh': exporter, 'monitoring.py': steward, ...others } = scripts;
  return monitoring ? { ...others, 'exporter.sh': exporter, 'monitoring.py': steward } : others;
}
