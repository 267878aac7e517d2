import { Counter, type Registry } from 'prom-client';
import type { Reason } from '../database/rollouts.ts';

type Told = { readonly step: string } | { readonly outcome: string };

/** What is counted of what rollouts tell. */
const counted: Readonly<Partial<Record<Reason, Told>>> = {
  MemberReplaced: { step: 'replace' },
  ServerRestarted: { step: 'restart' },
  SwitchoverRequested: { step: 'switchover' },
  RevisionStable: { outcome: 'stable' },
  RevisionTakenBack: { outcome: 'taken_back' },
};

/** Steps and ends of rollouts. */
export class RolloutMetrics {
  readonly #steps: Counter<'step'>;
  readonly #ends: Counter<'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#steps = new Counter({
      name: 'plumbline_rollout_steps_total',
      help: 'Steps of rollouts: replace (a pod), restart (a server) or switchover (one was asked for).',
      labelNames: ['step'],
      registers,
    });
    this.#ends = new Counter({
      name: 'plumbline_rollouts_total',
      help: 'Rollouts that ended, the first start of a database among them: stable (every member runs on the revision) or taken_back.',
      labelNames: ['outcome'],
      registers,
    });
    for (const one of Object.values(counted)) this.#count(one, 0);
  }

  told(reason: Reason): void {
    const one = counted[reason];
    if (one !== undefined) this.#count(one, 1);
  }

  #count(told: Told, times: number): void {
    if ('step' in told) this.#steps.inc(told, times);
    else this.#ends.inc(told, times);
  }
}
