import type { V1Probe } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';

type Probe = Json<V1Probe>;

function get(path: string, rest: Omit<Probe, 'httpGet'>): Probe {
  return { httpGet: { path, port: 'patroni', scheme: 'HTTP' }, successThreshold: 1, ...rest };
}

/** The start gate may wait, for the API server say, before Patroni answers: ten minutes. */
export const startup: Probe = get('/liveness', { periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 600 });

/**
 * Ends a container that is frozen: after about ttl, when another member has become primary, for clients that still hang on it. Patroni itself
 * answers 503 when its loop stood still for ttl, on a replica for two. What is frozen heeds no TERM, so it is not waited for: with the pod's own
 * grace period, a frozen primary kept its clients for minutes.
 */
export const liveness: Probe = get('/liveness', {
  periodSeconds: 5,
  timeoutSeconds: 3,
  failureThreshold: 4,
  terminationGracePeriodSeconds: 1,
});

/**
 * Whether the Services lead here: on the primary while it holds the lock, on a replica while its server runs, be it that it only replays. Whether it
 * streams, its pod says in Patroni's words.
 * Source: Patroni, patroni/api.py, `do_GET_readiness`
 */
export const readiness: Probe = get('/readiness', { periodSeconds: 3, timeoutSeconds: 2, failureThreshold: 2 });
