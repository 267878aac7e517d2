import { json } from 'node:stream/consumers';
import {
  KubeError,
  objectPath,
  type Connection,
  type KubeClient,
  type KubeObject,
  type ResourceType,
} from '../../../controller/kube/index.ts';
import { asFields } from './json.ts';
import type { Schema } from './schema.ts';
import { jsonPatch, mergePatch, partToApply, strategicPatch } from './verbs.ts';

export const verbs = ['merge', 'strategic', 'json', 'put', 'apply', 'scale'] as const;
export type Verb = (typeof verbs)[number];

/** Under which name each writes; a number follows, so that nobody can be taken for the editor of another case. */
const managers: Readonly<Record<Verb, string>> = {
  merge: 'kubectl-edit',
  strategic: 'kubectl-edit',
  json: 'kubectl-patch',
  put: 'kubectl-replace',
  apply: 'argocd-controller',
  scale: 'kubectl-scale',
};

/** Who makes an edit, as managedFields will name him. */
export interface Author {
  readonly manager: string;
  readonly operation: string;
}

export interface Edit {
  readonly type: ResourceType;
  readonly schema: Schema;
  readonly from: KubeObject;
  readonly to: KubeObject;
  readonly author: Author;
}

/** @param number makes the name one of its own */
export function authorOf(verb: Verb, number: number): Author {
  const operation = verb === 'apply' ? 'Apply' : verb === 'scale' ? 'Update of scale' : 'Update';
  return { manager: `${managers[verb]}-${number}`, operation };
}

/** Writes objects as other clients do. */
export class Writers {
  readonly #kube: KubeClient;
  readonly #connection: Connection;

  constructor(kube: KubeClient, connection: Connection) {
    this.#kube = kube;
    this.#connection = connection;
  }

  /**
   * Makes an object into another.
   *
   * @returns the server's answer; undefined where that way cannot express it
   * @throws KubeError
   */
  async write(verb: Verb, { type, schema, from, to, author }: Edit): Promise<KubeObject | undefined> {
    const { manager: fieldManager } = author;
    const [a, b] = [asFields(from), asFields(to)];
    const ref = from.metadata;
    switch (verb) {
      case 'merge':
        return this.#kube.patch(type, ref, { kind: 'merge', body: mergePatch(a, b), fieldManager });
      case 'strategic':
        return this.#kube.patch(type, ref, { kind: 'strategic', body: strategicPatch(a, b, schema), fieldManager });
      case 'json':
        return this.#kube.patch(type, ref, { kind: 'json', body: jsonPatch(a, b), fieldManager });
      case 'put':
        return this.put(type, to, fieldManager);
      case 'apply': {
        const part = partToApply(a, b, schema) as Partial<KubeObject> | undefined;
        // Nobody applies managedFields.
        if (part?.metadata?.managedFields !== undefined || part === undefined) return undefined;
        const { name, namespace = '' } = ref;
        const { apiVersion, kind } = type;
        const body = { ...part, apiVersion, kind, metadata: { ...part.metadata, name, namespace } };
        return (await this.#kube.apply(body, { type, fieldManager, force: true })).object;
      }
      case 'scale': {
        const body = mergePatch(a, b);
        const onlyReplicas = JSON.stringify(body) === JSON.stringify({ spec: { replicas: scaleOf(to) } });
        if (!onlyReplicas) return undefined;
        const scale = await this.#kube.patch(type, ref, { kind: 'merge', body, fieldManager, subresource: 'scale' });
        // Its answer says no more; a look at the object may come after the repair.
        const { resourceVersion = '' } = scale.metadata;
        return {
          ...from,
          metadata: { ...from.metadata, resourceVersion },
          spec: { ...(from['spec'] as object), replicas: scaleOf(scale) },
        };
      }
    }
  }

  /** @throws KubeError */
  async put(type: ResourceType, object: KubeObject, fieldManager: string): Promise<KubeObject> {
    const { status, body } = await this.#connection.request({
      method: 'PUT',
      path: `${objectPath(type, object.metadata)}?fieldManager=${fieldManager}&fieldValidation=Strict`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
    const answer = (await json(body)) as KubeObject & { readonly message?: string; readonly reason?: string };
    if (status < 400) return answer;
    const tried = { verb: 'put', kind: type.kind, object: object.metadata.name };
    throw new KubeError({ tried, status, reason: answer.reason, message: answer.message ?? '' });
  }
}

function scaleOf(object: KubeObject): unknown {
  return (object['spec'] as { readonly replicas?: number } | undefined)?.replicas;
}
