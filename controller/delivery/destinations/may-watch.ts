import { classify, type Kube } from '../../kube/index.ts';
import { gitDestinations } from './destinations.ts';
import { secrets } from './secret-access.ts';

/**
 * Whether GitDestinations and the Secrets of a namespace can be listed: their definition may not be installed, and a controller that looks after
 * some namespaces may have no right to what has none. A watch of them would be waited for in vain.
 * @throws KubeError when the server gives no answer
 */
export async function mayWatchDestinations(kube: Kube, namespace: string): Promise<boolean> {
  try {
    await kube.list(gitDestinations, { limit: 1 }).next();
    await kube.list(secrets, { namespace, limit: 1, metadataOnly: true }).next();
    return true;
  } catch (error) {
    if (!['kind-missing', 'forbidden'].includes(classify(error).kind)) throw error;
    return false;
  }
}
