import { connect, KubeClient, type RequestFacts } from '../../controller/kube/index.ts';
import { Plumbline } from '../../controller/plumbline.ts';
import { createLogger } from '../../controller/runtime/logger.ts';

/** What the parent asks for at any time. */
export interface ControllerReport {
  readonly isLeading: boolean;
  /** Objects of databases that are known to exist. */
  readonly objects: number;
  /** Requests but watches so far. */
  readonly requests: number;
  readonly peakRssMb: number;
}

/** A controller in a process of its own, so that its memory is its own; each message is answered with a report. */
const [kubeconfig = '', namespace = ''] = process.argv.slice(2);
const requests: RequestFacts['verb'][] = [];
const stop = new AbortController();
const connection = await connect({ kubeconfig });
const plumbline = new Plumbline({
  kube: new KubeClient(connection, { onRequest: ({ verb }) => void (verb === 'watch' || requests.push(verb)) }),
  log: createLogger({ level: 'error' }),
  namespace,
});
process.on('message', () => {
  const report: ControllerReport = {
    isLeading: plumbline.state === 'leading',
    objects: plumbline.children.size,
    requests: requests.length,
    peakRssMb: process.resourceUsage().maxRSS / 1024,
  };
  process.send?.(report);
});
process.once('disconnect', () => stop.abort());
await plumbline.run(stop.signal);
await connection.close();
