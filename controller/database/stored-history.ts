import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { appliedKey, databaseLabel, historyKey, informativeLabels } from '../../constructs/labels.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { namesOf } from '../../constructs/names.ts';
import type { Fight } from '../drift/index.ts';
import type { Facts } from '../health/facts.ts';
import { json, texts } from '../health/fields.ts';
import { historyText, parseHistory, type History } from '../rollout/index.ts';
import type { Applied } from './applied.ts';
import type { Child } from './child.ts';

/** What is kept beside the history, where it has to be known after a restart. */
export interface Kept {
  /** What was applied. */
  readonly applied?: Applied | undefined;
  /** What others fight about: in the text of the history, which nobody can add to unseen. */
  readonly fights?: readonly Fight[];
}

/** The ConfigMap with the history of a database. */
export function historyManifest(
  { metadata }: StoredDatabaseService,
  history: History,
  { applied, fights = [] }: Kept = {},
): Manifest {
  const { name, namespace } = metadata;
  const labels = { ...informativeLabels(name, 'database'), [databaseLabel]: name };
  const known = applied === undefined ? {} : { [appliedKey]: JSON.stringify(Object.fromEntries(applied)) };
  const text = historyText(history, fights.length === 0 ? {} : { fights });
  const data = { [historyKey]: text, ...known };
  const head = { name: namesOf(name).history, namespace, labels };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: head, immutable: false, data };
}

/** The history as the cluster has it; undefined where it was lost or cannot be read. */
export function storedHistory(children: readonly Child[], database: string): History | undefined {
  const text = factsIn(children, database)?.text;
  return text === undefined ? undefined : parseHistory(text);
}

/** What was applied, as the cluster has it. */
export function storedApplied(children: readonly Child[], database: string): Applied {
  return new Map(Object.entries(texts(json(factsIn(children, database)?.applied))));
}

/** What others fight about, as the cluster has it: whatever somebody wrote. */
export function storedFights(children: readonly Child[], database: string): unknown {
  return json(factsIn(children, database)?.text)['fights'];
}

function factsIn(children: readonly Child[], database: string): Extract<Facts, { kind: 'History' }> | undefined {
  const name = namesOf(database).history;
  const facts = children.find((child) => child.kind === 'ConfigMap' && child.name === name)?.facts;
  return facts?.kind === 'History' ? facts : undefined;
}
