import type { V1Probe } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';

type Probe = Json<V1Probe>;

const defaults = { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 5 } as const;

/** Until then nothing else is asked: a node that is busy may take long to start it. */
export const startup: Probe = { ...defaults, ...get('/healthz'), failureThreshold: 60, periodSeconds: 2 };
/** Fails when only a new process goes on. */
export const liveness: Probe = { ...defaults, ...get('/healthz') };
/** Whether it would do if the other went: its caches are full, and somebody has the lease. */
export const readiness: Probe = { ...defaults, ...get('/readyz'), periodSeconds: 5 };

function get(path: string): Probe {
  return { httpGet: { path, port: 'health', scheme: 'HTTP' } };
}
