import { apiVersion, kind } from '../../constructs/api/resource.ts';
import { classify, type Kube } from '../kube/index.ts';

/** The controller cannot begin. The message says why and what to do. */
export class NotInstalledError extends Error {
  override readonly name = 'NotInstalledError';
}

/**
 * Asks whether the API server serves DatabaseServices: without them the watches would wait for them in vain.
 *
 * @throws NotInstalledError when it does not
 * @throws KubeError when it gives no answer
 */
export async function requireDatabaseServices(kube: Kube, server: string): Promise<void> {
  if (await isServed(kube)) return;
  throw new NotInstalledError(
    `the API server at ${server} does not know the kind ${kind} (${apiVersion}): install it with 'kubectl apply --server-side -f crds/', then start again`,
  );
}

async function isServed(kube: Kube): Promise<boolean> {
  try {
    const list = (await kube.raw(`/apis/${apiVersion}`)) as {
      readonly resources?: readonly { readonly kind?: string }[];
    };
    return list.resources?.some((resource) => resource.kind === kind) === true;
  } catch (error) {
    if (classify(error).kind !== 'kind-missing') throw error;
    return false;
  }
}
