import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestFacts } from '../kube/index.ts';

/** HTTP methods of what is asked. */
const methods: Readonly<Record<RequestFacts['verb'], string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  raw: 'GET',
  apply: 'PATCH',
  patch: 'PATCH',
  create: 'POST',
  delete: 'DELETE',
};

/** As Kubernetes' own components have them (k8s.io/component-base/metrics/prometheus/restclient). */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** What client-go writes where no answer came. */
const noAnswer = '<error>';

/** Why a request is made. */
export const requestReasons = {
  start: 'whether the API server knows DatabaseServices',
  lease: 'who leads',
  watch: 'what there is, and what changes',
  manifest: 'objects of databases that are not as stated',
  reconcile: 'statuses, and what only a question tells',
  rollout: 'steps of rollouts',
  certificate: 'certificates that are due',
  mount: 'members that are to see a changed Secret',
  record: "Patroni's own objects",
  destination: 'statuses of GitDestinations, and their Secrets before a commit',
  event: 'Events',
  review: 'whose a token of a scraper is, and what that one may',
} as const;

export type RequestReason = keyof typeof requestReasons;

/** Requests to the API server, under the names of client-go. */
export class RequestMetrics {
  readonly #total: Counter<'code' | 'method' | 'host'>;
  readonly #time: Histogram<'verb' | 'host'>;
  readonly #reasons: Counter<'verb' | 'kind' | 'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server by HTTP method, status code (`<error>` where no answer came) and host. A watch counts once, when it is opened.',
      labelNames: ['code', 'method', 'host'],
      registers,
    });
    this.#time = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'How long requests to the API server took, until the answer was read; of a watch, until it was opened.',
      labelNames: ['verb', 'host'],
      buckets,
      registers,
    });
    this.#reasons = new Counter({
      name: 'plumbline_api_requests_total',
      help: `The same requests by verb (get, list, watch, apply, create, delete, patch, raw), kind and reason (${Object.keys(requestReasons).join(', ')}).`,
      labelNames: ['verb', 'kind', 'reason'],
      registers,
    });
  }

  /** @param server URL of the API server @returns what takes each request that is made for a reason */
  of(server: string, reason: RequestReason): (facts: RequestFacts) => void {
    const host = URL.parse(server)?.host ?? '';
    return ({ verb, type, status, ms }) => {
      const method = methods[verb];
      this.#total.inc({ method, host, code: status === undefined ? noAnswer : String(status) });
      this.#time.observe({ verb: method, host }, ms / 1000);
      this.#reasons.inc({ verb, kind: type?.kind ?? '', reason });
    };
  }
}
