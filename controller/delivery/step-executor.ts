import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { anyoneAnnotation, askedRestartAnnotation, patroniLabels } from '../../constructs/labels.ts';
import { namesOf } from '../../constructs/names.ts';
import type { Scene, SeenPod, Steps, Taken } from '../database/delivery.ts';
import { pods, typeOf } from '../database/kinds.ts';
import { asSeen, isObjectMissing, type Kube, type KubeObject, type ObjectMeta } from '../kube/index.ts';
import { restartRequest, type Action } from '../rollout/index.ts';
import { createOnly } from './create-only.ts';

const configMaps = typeOf({ kind: 'ConfigMap' });

/** Field manager of the annotation that asks for a restart. */
const restartManager = 'plumbline-restart';
/** Field manager of a switchover. Patroni takes the fields away when it has dealt with it, and nobody puts them back. */
const switchoverManager = 'plumbline-switchover';

/**
 * Takes one step of a rollout. Who leads is asked of Patroni's own lock just before, for the label of a pod can be old; and each step holds only for
 * the pod, or for the ConfigMap of switchovers, that was looked at: one that arrives late comes to nothing.
 */
export class StepExecutor implements Steps {
  readonly #kube: Kube;

  constructor(kube: Kube) {
    this.#kube = kube;
  }

  async leader({ metadata }: StoredDatabaseService, signal: AbortSignal): Promise<string | undefined> {
    return annotationsOf(await this.#look(metadata.namespace, namesOf(metadata.name).patroniLeader, signal))['leader'];
  }

  async carryOut(step: Action, { resource, pod }: Scene, signal: AbortSignal): Promise<Taken> {
    const { namespace } = resource.metadata;
    const leader = await this.leader(resource, signal);
    if (step.kind === 'switchover') return this.#switchOver(step, resource, leader, signal);
    if (pod === undefined || (step.isReplica && leader === step.member)) {
      return { kind: 'outdated', message: `${step.member} is looked at again.` };
    }
    if (step.kind === 'restart') await this.#restart(step, pod, namespace, signal);
    else {
      const { uid, resourceVersion } = pod;
      await this.#kube.delete(pods, { namespace, name: step.member }, { uid, resourceVersion, signal });
    }
    return { kind: 'done', message: step.message };
  }

  async #restart(
    { member: name, token, isReplica }: Extract<Action, { kind: 'restart' }>,
    { uid, resourceVersion }: SeenPod,
    namespace: string,
    signal: AbortSignal,
  ): Promise<void> {
    const annotations = { [askedRestartAnnotation]: restartRequest(token, isReplica) };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid, resourceVersion, annotations } };
    await this.#kube.apply(body, { type: pods, fieldManager: restartManager, force: true, signal });
  }

  async #switchOver(
    { from, candidates, isOpen, message }: Extract<Action, { kind: 'switchover' }>,
    { metadata }: StoredDatabaseService,
    leader: string | undefined,
    signal: AbortSignal,
  ): Promise<Taken> {
    const { namespace, name } = metadata;
    const names = namesOf(name);
    if (leader !== from) return { kind: 'outdated', message: `${from} is not the primary any more.` };
    const record = await this.#look(namespace, names.patroniFailover, signal);
    const asked = annotationsOf(record);
    if (asked['leader'] !== undefined || asked['member'] !== undefined) return { kind: 'pending', message };
    const sync = annotationsOf(await this.#look(namespace, names.patroniSync, signal));
    const late = candidates.find((one) => !isInStep(one, sync));
    if (late !== undefined) return { kind: 'not-yet', message: `${from} hands over once ${late} is in step with it.` };
    const [candidate = ''] = candidates;
    const body: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: names.patroniFailover,
        namespace,
        ...(record === undefined ? { resourceVersion: createOnly } : asSeen(record)),
        labels: { ...patroniLabels(name) },
        annotations: { leader: from, member: candidate, ...(isOpen ? { [anyoneAnnotation]: candidate } : {}) },
      },
    };
    await this.#kube.apply(body, { type: configMaps, fieldManager: switchoverManager, force: true, signal });
    return { kind: 'done', message: `${message} ${candidate} takes over.` };
  }

  async #look(namespace: string, name: string, signal: AbortSignal): Promise<ObjectMeta | undefined> {
    try {
      return (await this.#kube.get(configMaps, { namespace, name }, { metadataOnly: true, signal })).metadata;
    } catch (error) {
      if (!isObjectMissing(error)) throw error;
      return undefined;
    }
  }
}

function annotationsOf(metadata: ObjectMeta | undefined): Readonly<Record<string, string>> {
  return metadata?.annotations ?? {};
}

/**
 * While replicas acknowledge commits, only one of those may lead: Patroni refuses any other. And a new primary counts only on those that did before:
 * one that is not yet among them acknowledges nothing before Patroni has looked again, so all wait for it while the old primary still serves.
 */
function isInStep(member: string, sync: Readonly<Record<string, string>>): boolean {
  const { leader, sync_standby: standbys = '' } = sync;
  return leader === undefined || leader === '' || standbys.split(',').includes(member);
}
