import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseLabel, historyKey, informativeLabels } from '../../constructs/labels.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { namesOf } from '../../constructs/names.ts';
import { historyText, parseHistory, type History } from '../rollout/index.ts';
import type { Child } from './child.ts';

/** The ConfigMap with the history of a database. */
export function historyManifest({ metadata }: StoredDatabaseService, history: History): Manifest {
  const { name, namespace } = metadata;
  const labels = { ...informativeLabels(name, 'database'), [databaseLabel]: name };
  const data = { [historyKey]: historyText(history) };
  const head = { name: namesOf(name).history, namespace, labels };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: head, immutable: false, data };
}

/** The history as the cluster has it; undefined where it was lost or cannot be read. */
export function storedHistory(children: readonly Child[], database: string): History | undefined {
  const name = namesOf(database).history;
  const found = children.find((child) => child.kind === 'ConfigMap' && child.name === name);
  return found?.facts.kind === 'History' ? parseHistory(found.facts.text) : undefined;
}
