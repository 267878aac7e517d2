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

/** Requests to the API server, under the names of client-go. */
export class RequestMetrics {
  readonly #total: Counter<'code' | 'method' | 'host'>;
  readonly #time: Histogram<'verb' | 'host'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server by HTTP method, status code (<error> where no answer came) and host. A watch counts once, when it is opened.',
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
  }

  /** @param server URL of the API server @returns what takes each request */
  of(server: string): (facts: RequestFacts) => void {
    const host = URL.parse(server)?.host ?? '';
    return ({ verb, status, ms }) => {
      const method = methods[verb];
      this.#total.inc({ method, host, code: status === undefined ? noAnswer : String(status) });
      this.#time.observe({ verb: method, host }, ms / 1000);
    };
  }
}
