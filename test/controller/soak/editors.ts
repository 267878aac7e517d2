import { typeOf } from '../../../controller/database/kinds.ts';
import { classify, type KubeClient } from '../../../controller/kube/index.ts';
import { edits } from '../../bench/edits.ts';
import type { Random } from './random.ts';

export interface Editing {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Names of the databases. */
  readonly databases: readonly string[];
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** What may be deleted by anybody, without harm to anything but itself: kinds and what follows the database in their names. */
const deletable = [
  ['Service', ''],
  ['Service', '-ro'],
  ['ConfigMap', '-patroni'],
  ['PodDisruptionBudget', ''],
  ['CronJob', '-backup'],
  ['Role', '-members'],
] as const;

/** Managers enough for none to be taken for a rival who never gives up. */
const managers = 50;

/** One after the other: edits of what is rendered, deletions, and now and then something that is none of ours. @returns how many */
export async function edit(editing: Editing): Promise<number> {
  let count = 0;
  for (; !editing.signal.aborted; count += 1) {
    await once(editing, count).catch((error: unknown) => {
      // What is being made anew cannot be edited.
      if (classify(error).kind !== 'object-missing') throw error;
    });
  }
  return count;
}

async function once({ kube, namespace, databases, random }: Editing, count: number): Promise<void> {
  const database = random.of(databases);
  const fieldManager = `editor-${random.below(managers)}`;
  const die = random.next();
  if (die < 0.08) {
    const [kind, suffix] = random.of(deletable);
    return kube.delete(typeOf({ kind }), { namespace, name: database + suffix });
  }
  if (die < 0.16) {
    const body = { metadata: { labels: { team: `team-${count % 7}` } } };
    await kube.patch(typeOf({ kind: 'Service' }), { namespace, name: database }, { kind: 'merge', body, fieldManager });
    return;
  }
  const { kind, suffix, patch, body } = random.of(edits);
  const change = { kind: patch, body: body(count), fieldManager };
  await kube.patch(typeOf({ kind }), { namespace, name: database + suffix }, change);
}
