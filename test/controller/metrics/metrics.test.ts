import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Drift } from '../../../controller/drift/index.ts';
import type { RequestFacts } from '../../../controller/kube/index.ts';
import { Metrics } from '../../../controller/metrics/index.ts';
import type { ReconcileOutcome } from '../../../controller/runtime/controller.ts';
import { parseExposition, type Scrape } from './exposition.ts';

async function scrape(metrics: Metrics): Promise<Scrape> {
  let text = '';
  for await (const part of metrics.text()) text += part;
  return parseExposition(text);
}

function drift(object: string, manager: string): Drift {
  const editor = { manager, operation: 'Update', time: undefined };
  return { object, field: 'spec.replicas', was: '3', now: '4', editor };
}

describe('metrics', () => {
  test('every counter without labels of others begins at 0, so that its first step is seen', async () => {
    const found = await scrape(new Metrics());
    const begun = [
      'controller_runtime_reconcile_total',
      'controller_runtime_reconcile_errors_total',
      'workqueue_adds_total',
      'workqueue_retries_total',
      'plumbline_rollout_steps_total',
      'plumbline_rollouts_total',
      'plumbline_repair_seconds_count',
    ];
    for (const name of begun) {
      const samples = found.all(name);
      assert(samples.length > 0, name);
      assert(
        samples.every(({ value }) => value === 0),
        name,
      );
    }
  });

  test('a run counts under the name that controller-runtime gives its result', async () => {
    const metrics = new Metrics();
    const outcomes: readonly ReconcileOutcome[] = [
      'success',
      'success',
      'requeueAfter',
      'retryNow',
      'error',
      'terminal',
      'aborted',
    ];
    for (const outcome of outcomes) metrics.reconciles.ended({ outcome, ms: 120 });
    const found = await scrape(metrics);
    const of = (result: string) => found.value('controller_runtime_reconcile_total', { result });
    assert.deepEqual(['success', 'requeue_after', 'requeue', 'error'].map(of), [2, 1, 1, 2]);
    assert.equal(found.value('controller_runtime_reconcile_errors_total'), 2);
    assert.equal(found.value('controller_runtime_terminal_reconcile_errors_total'), 1);
    assert.equal(found.value('controller_runtime_reconcile_time_seconds_count'), 6);
    assert.equal(found.value('controller_runtime_reconcile_time_seconds_bucket', { le: '0.1' }), 0);
    assert.equal(found.value('controller_runtime_reconcile_time_seconds_bucket', { le: '0.15' }), 6);
  });

  test('drift counts by kind, manager and what was done; after 32 managers the rest are one', async () => {
    const metrics = new Metrics();
    metrics.drift.found(
      [drift('Service/orders', 'kubectl-edit'), drift('Service/orders', 'kubectl-edit')],
      'Corrected',
    );
    metrics.drift.found([drift('StatefulSet/orders', 'kubectl-edit')], 'Reported');
    for (let index = 0; index < 1_000; index++) {
      metrics.drift.found([drift('Service/orders', `made-up-${index}`)], 'Corrected');
    }
    metrics.drift.found([drift('Service/orders', 'kubectl-edit')], 'Corrected');
    const found = await scrape(metrics);
    const of = (labels: Readonly<Record<string, string>>) => found.value('plumbline_drift_total', labels);
    assert.equal(of({ kind: 'Service', manager: 'kubectl-edit', action: 'corrected' }), 3);
    assert.equal(of({ kind: 'StatefulSet', manager: 'kubectl-edit', action: 'reported' }), 1);
    assert.equal(of({ manager: 'made-up-30' }), 1);
    assert.equal(of({ manager: 'other' }), 969);
    assert.equal(new Set(found.all('plumbline_drift_total').map(({ labels }) => labels['manager'])).size, 33);
  });

  test('a manager may have any name', async () => {
    const metrics = new Metrics();
    const name = 'a"b\\c\nd{}=,# é';
    metrics.drift.found([drift('Service/orders', name)], 'Corrected');
    assert.equal((await scrape(metrics)).value('plumbline_drift_total', { manager: name }), 1);
  });

  test('steps and ends of rollouts count, and what else they tell does not', async () => {
    const metrics = new Metrics();
    for (const reason of [
      'MemberReplaced',
      'MemberReplaced',
      'SwitchoverRequested',
      'RevisionStable',
      'SlotLost',
    ] as const)
      metrics.rollouts.told(reason);
    const found = await scrape(metrics);
    const steps = found.all('plumbline_rollout_steps_total').map(({ labels, value }) => [labels['step'], value]);
    assert.deepEqual(steps, [
      ['replace', 2],
      ['restart', 0],
      ['switchover', 1],
    ]);
    assert.equal(found.value('plumbline_rollouts_total', { outcome: 'stable' }), 1);
    assert.equal(found.value('plumbline_rollouts_total', { outcome: 'taken_back' }), 0);
  });

  test('requests count by method, code and host, and by verb, kind and reason; without an answer there is no code', async () => {
    const metrics = new Metrics();
    const take = metrics.requests.of('https://10.0.0.1:6443', 'manifest');
    const type = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true };
    const facts: RequestFacts = { verb: 'apply', type, status: 200, ms: 20, reason: undefined };
    take(facts);
    take({ ...facts, status: 409, reason: 'Conflict' });
    take({ ...facts, status: undefined, reason: 'NetworkError' });
    take({ ...facts, verb: 'raw', type: undefined });
    const found = await scrape(metrics);
    const of = (method: string, code: string) =>
      found.value('rest_client_requests_total', { method, code, host: '10.0.0.1:6443' });
    assert.deepEqual([of('PATCH', '200'), of('PATCH', '409'), of('PATCH', '<error>'), of('GET', '200')], [1, 1, 1, 1]);
    const reason = 'manifest';
    assert.equal(found.value('plumbline_api_requests_total', { verb: 'apply', kind: 'Service', reason }), 3);
    assert.equal(found.value('rest_client_request_duration_seconds_bucket', { verb: 'PATCH', le: '0.025' }), 3);
  });

  test('counts outlive the controller that they are of; what is read is of the newest', async () => {
    const metrics = new Metrics();
    const source = (activeWorkers: number) => ({
      databases: new Map(),
      children: { of: () => [] },
      queueStats: () => ({
        ready: 5,
        delayed: 0,
        running: 1,
        adds: 0,
        retries: 0,
        unfinishedMs: 1_500,
        longestRunningMs: 1_500,
        shortestRunningMs: 1_500,
      }),
      controllerStats: () => ({
        reconciles: { success: 0, requeueAfter: 0, retryNow: 0, error: 0, terminal: 0, aborted: 0 },
        panics: 2,
        activeWorkers,
        maxConcurrentReconciles: 8,
      }),
    });
    metrics.follow(source(3));
    metrics.workQueue.added();
    metrics.follow(source(1));
    metrics.workQueue.added();
    const found = await scrape(metrics);
    assert.equal(found.value('workqueue_adds_total'), 2);
    assert.equal(found.value('workqueue_depth'), 5);
    assert.equal(found.value('workqueue_unfinished_work_seconds'), 1.5);
    assert.equal(found.value('controller_runtime_active_workers'), 1);
    assert.equal(found.value('controller_runtime_reconcile_panics_total'), 2);
  });
});
