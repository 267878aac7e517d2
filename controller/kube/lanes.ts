import { Agent, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from 'undici';
import { ConnectionError } from './connection-error.ts';
import type { TlsMaterial } from './credentials.ts';

/**
 * Kinds of traffic that must not wait for each other: requests share a bounded number of connections, each watch holds
 * one for minutes, and a lease must be renewed while both are busy (https://github.com/kubernetes-sigs/kueue/issues/15537).
 */
export type Lane = 'requests' | 'watches' | 'lease';

/** One dispatcher for each lane, for one server and one set of certificates. */
export interface Lanes {
  of(lane: Lane): Dispatcher;
  /** Cuts everything at once. Never rejects. */
  destroy(): Promise<void>;
}

/** Connections at once for requests; more only lengthens the queue in the API server. */
const REQUEST_CONNECTIONS = 32;
/** Below the API server's own limit of 90 s (k8s.io/apiserver, secure_serving.go), so that we close idle ones first. */
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;

/**
 * HTTP/1.1 throughout: over HTTP/2 all watches would share one connection, and one stalled stream could stop them.
 * undici's own time limits are off, since each call has one (client.ts) and each watch is watched (reflector.ts).
 */
export function openLanes(tls: TlsMaterial, proxyUrl: string | undefined): Lanes {
  const limits = {
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  };
  const lanes: Readonly<Record<Lane, Dispatcher>> = {
    requests: open(tls, proxyUrl, { ...limits, connections: REQUEST_CONNECTIONS }),
    watches: open(tls, proxyUrl, { ...limits, connections: null }),
    lease: open(tls, proxyUrl, { ...limits, connections: 1 }),
  };
  const all = Object.values(lanes);
  return {
    of: (lane) => lanes[lane],
    destroy: async () => {
      await Promise.allSettled(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

function open(tls: TlsMaterial, proxyUrl: string | undefined, options: Agent.Options): Dispatcher {
  const connect = { ...tls, timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (proxyUrl === undefined || proxyUrl === '') return new Agent({ ...options, connect });
  if (/^https?:/.test(proxyUrl)) return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect });
  if (/^socks5h?:/.test(proxyUrl)) {
    return new Socks5ProxyAgent(proxyUrl.replace(/^socks5h:/, 'socks5:'), { requestTls: connect });
  }
  throw new ConnectionError('kubeconfig-invalid', 'the proxy-url of the cluster must start with http, https or socks5');
}
