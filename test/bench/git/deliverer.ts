import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { GitDelivery } from '../../../controller/delivery/git-delivery.ts';
import { GitWriter } from '../../../controller/delivery/git/writer.ts';
import { keyOf, systemClock } from '../../../controller/kube/index.ts';
import { databaseOf } from './fleet.ts';

/** What the parent asks for: databases to be brought to a version. */
export interface Order {
  readonly id: number;
  readonly indexes: readonly number[];
  readonly version: number;
}

/** What became of it. */
export interface Report {
  readonly id: number;
  /** From the first change until the branch holds the last one. */
  readonly ms: number;
  /** Since the process began. */
  readonly commits: number;
  readonly rejections: number;
  /** Deliveries that failed and were tried again. */
  readonly failures: number;
  readonly peakMiB: number;
}

/** The controller's delivery to Git in a process of its own, so that its memory is its own: from a changed spec to the pushed commit. */
const [url = '', login = '', authority = '', directory = '', windowMs = ''] = process.argv.slice(2);
const [username = '', password = ''] = login.split(':');
const certificateAuthority = readFileSync(authority, 'utf8');
const writer = new GitWriter({
  url,
  branch: 'main',
  cluster: 'prod',
  directory,
  clock: systemClock,
  windowMs: Number(windowMs),
  access: () => ({ login: { kind: 'password', username, password }, certificateAuthority }),
});
const place = {
  kind: 'place',
  id: url,
  way: 'by a push',
  finalizer: 'plumbline.dev/git',
  submit: (submission: Parameters<GitWriter['submit']>[0]) => writer.submit(submission),
} as const;
interface Waiting {
  readonly resource: StoredDatabaseService;
  /** The branch has it. */
  readonly arrived: PromiseWithResolvers<void>;
}

const waiting = new Map<string, Waiting>();
let failures = 0;
const delivery = new GitDelivery({
  targetOf: () => place,
  targetIn: () => place,
  passwordsOf: async () => [],
  clock: systemClock,
  signal: new AbortController().signal,
  wake: look,
});

/** As the reconciler does when it is woken. */
function look(key: string): void {
  const one = waiting.get(key);
  if (one === undefined) return;
  const state = delivery.deliver(one.resource, false);
  if (state?.failure !== undefined) failures++;
  if (state?.isPending === true || state?.failure !== undefined) return;
  waiting.delete(key);
  one.arrived.resolve();
}

async function carryOut({ id, indexes, version }: Order): Promise<Report> {
  const start = performance.now();
  const arrivals: Promise<void>[] = [];
  for (const index of indexes) {
    const resource = databaseOf(index, version);
    const key = keyOf(resource.metadata);
    // The later counts, for both.
    const arrived = waiting.get(key)?.arrived ?? Promise.withResolvers<void>();
    waiting.set(key, { resource, arrived });
    arrivals.push(arrived.promise);
    look(key);
    // As between two runs of a queue.
    await setImmediate();
  }
  await Promise.all(arrivals);
  const { commits, rejections } = writer.stats;
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  return { id, ms: performance.now() - start, commits, rejections, failures, peakMiB };
}

await writer.start();
process.on('message', (order: Order) => {
  void carryOut(order).then((report) => process.send?.(report));
});
process.once('disconnect', () => void writer.stop().then(() => process.exit(0)));
process.send?.('ready');
