import { setTimeout } from 'node:timers/promises';
import type { Asked, Fault, FaultyProxy } from '../kube/faulty-proxy.ts';
import type { Random } from './random.ts';

const ofRequests: readonly (readonly [Asked, Fault])[] = [
  ['write', { kind: 'status', status: 500 }],
  ['write', { kind: 'status', status: 429, retryAfterSeconds: 1 }],
  ['write', { kind: 'status', status: 409 }],
  ['write', { kind: 'status', status: 503 }],
  // It is carried out, and nobody hears of it.
  ['write', { kind: 'reset', afterLines: 0 }],
  ['write', { kind: 'delay', ms: 700 }],
  ['list', { kind: 'status', status: 500 }],
  ['list', { kind: 'status', status: 410 }],
  ['list', { kind: 'delay', ms: 500 }],
];

const ofWatches: readonly Fault[] = [
  { kind: 'status', status: 410 },
  { kind: 'status', status: 500 },
  { kind: 'reset', afterLines: 3, midLine: true },
  { kind: 'error-event', afterLines: 2, status: 410 },
  { kind: 'malformed-line', afterLines: 4 },
  { kind: 'end', afterLines: 5 },
];

/** Nothing more comes of it, until the next cut or until whoever watches notices, which takes longer than a short test. */
const stale: Fault = { kind: 'stall', afterLines: 2 };

export interface Wreaking {
  readonly proxy: FaultyProxy;
  readonly random: Random;
  /** The last stale watches are left to whoever watches to notice; otherwise a last cut ends them. */
  readonly leavesStale: boolean;
  /** Ends it; what was to go wrong then no longer does. */
  readonly signal: AbortSignal;
}

/**
 * Lets something go wrong five times a second; every third second all connections are cut, some of the new watches fail, and of every other time two
 * go stale.
 *
 * @returns how often
 */
export async function wreak({ proxy, random, leavesStale, signal }: Wreaking): Promise<number> {
  let count = 0;
  for (; !signal.aborted; count += 1) {
    await setTimeout(200);
    if (count % 15 === 14) {
      proxy.inject('watch', random.of(ofWatches), 1 + random.below(4));
      if (count % 30 === 14) proxy.inject('watch', stale, 2);
      proxy.cut();
    } else if (proxy.pending < 20) {
      proxy.inject(...random.of(ofRequests));
    }
  }
  proxy.heal();
  if (!leavesStale) proxy.cut();
  return count;
}
