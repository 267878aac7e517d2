import { createServer } from 'node:http';
import { checks, type Probed } from './checks.ts';
import { clusterReviews } from './endpoints/cluster-reviews.ts';
import { answering, listen, type Endpoint } from './endpoints/endpoint.ts';
import { tokenGate, type Gate } from './endpoints/gate.ts';
import { healthHandler } from './endpoints/health.ts';
import { metricsHandler, metricsPath } from './endpoints/metrics.ts';
import { secureServer } from './endpoints/secure-server.ts';
import {
  certificateFromFiles,
  selfSignedCertificate,
  type ServingCertificate,
} from './endpoints/serving-certificate.ts';
import {
  KubeClient,
  monotonicClock,
  systemClock,
  type Connection,
  type KubeClientOptions,
  type LeaderElector,
} from './kube/index.ts';
import { Metrics, type RequestReason } from './metrics/index.ts';
import type { ControllerOptions } from './options.ts';
import type { Plumbline } from './plumbline.ts';
import type { Logger } from './runtime/logger.ts';

/** A scraper waits about as long. */
const reviewTimeoutMs = 5_000;
/** Of a certificate that nobody can check; a Service has another name in each cluster. */
const selfSignedNames = ['localhost', 'plumbline-metrics'];

/** What others see of the controller while it runs: its metrics and its health. */
export class Observation {
  readonly metrics: Metrics;
  readonly #server: string;
  readonly #leaseName: string;
  readonly #endpoints: Endpoint[] = [];
  #probed: (() => Probed) | undefined;

  private constructor(connection: Connection, options: ControllerOptions) {
    this.metrics = new Metrics({ hasProcess: options.metricsAddress !== undefined });
    this.#server = connection.server;
    this.#leaseName = options.leaseName;
  }

  /** Serves what the options ask for. @throws EndpointError */
  static async start(connection: Connection, options: ControllerOptions, log: Logger): Promise<Observation> {
    const observation = new Observation(connection, options);
    try {
      await observation.#serveHealth(options, log);
      await observation.#serveMetrics(connection, options, log);
      return observation;
    } catch (error) {
      await observation.close();
      throw error;
    }
  }

  /** For a client whose requests are made for a reason: by it they are counted, and their spans tell it. */
  requests(reason: RequestReason): Required<Pick<KubeClientOptions, 'onRequest' | 'reason'>> {
    return { onRequest: this.metrics.requests.of(this.#server, reason), reason };
  }

  /** From now on this controller is observed. */
  follow(plumbline: Plumbline, elector: Pick<LeaderElector, 'leader' | 'isLeading'>): void {
    this.metrics.leadership.follow(this.#leaseName, () => elector.isLeading);
    this.#probed = () => {
      const { running, shortestRunningMs } = plumbline.queueStats();
      return {
        state: plumbline.state,
        unread: plumbline.unread,
        workers: plumbline.controllerStats().maxConcurrentReconciles,
        busyWorkers: running,
        busyForMs: shortestRunningMs,
        leader: elector.leader,
      };
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
  }

  async #serveHealth({ healthAddress }: ControllerOptions, log: Logger): Promise<void> {
    if (healthAddress === undefined) return;
    const handler = healthHandler(checks(() => this.#probed?.()));
    const server = createServer(answering(handler, (err) => log.error({ err }, 'a probe could not be answered')));
    const endpoint = await listen(server, healthAddress, '--health-address');
    this.#endpoints.push(endpoint);
    log.info({ port: endpoint.port }, 'health is served');
  }

  async #serveMetrics(connection: Connection, options: ControllerOptions, log: Logger): Promise<void> {
    const { metricsAddress, metricsAuth } = options;
    if (metricsAddress === undefined) return;
    const gate = metricsAuth === 'tokens' ? this.#gate(connection, log) : undefined;
    const handler = metricsHandler(this.metrics, gate);
    const listener = answering(handler, (err) => log.warn({ err }, 'metrics could not be sent'));
    const certificate = await certificateFor(options, log);
    const server = certificate === undefined ? createServer(listener) : secureServer(certificate, listener);
    const endpoint = await listen(server, metricsAddress, '--metrics-address');
    this.#endpoints.push(endpoint);
    const { port } = endpoint;
    log.info({ port, auth: metricsAuth, scheme: certificate === undefined ? 'http' : 'https' }, 'metrics are served');
  }

  #gate(connection: Connection, log: Logger): Gate {
    const kube = new KubeClient(connection, { ...this.requests('review'), timeoutMs: reviewTimeoutMs });
    return tokenGate({
      reviews: clusterReviews(kube),
      path: metricsPath,
      clock: monotonicClock,
      onError: (err) => log.warn({ err }, 'the API server could not be asked about a token'),
    });
  }
}

/** Tokens never go over a plain connection. */
async function certificateFor(options: ControllerOptions, log: Logger): Promise<ServingCertificate | undefined> {
  const { metricsAuth, metricsCertFile: certFile, metricsKeyFile: keyFile } = options;
  const onError = (err: unknown): void => log.warn({ err }, 'the certificate of the metrics could not be renewed');
  if (certFile !== undefined && keyFile !== undefined) return certificateFromFiles({ certFile, keyFile }, onError);
  return metricsAuth === 'tokens' ? selfSignedCertificate(selfSignedNames, systemClock, onError) : undefined;
}
