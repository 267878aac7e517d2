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
    data: { ...scripts, 'member.json': `${JSON.stringify(memberConfiguration(database), null, 2)}\n` },
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
