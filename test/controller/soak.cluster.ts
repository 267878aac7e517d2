import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { databaseServices } from '../../controller/database/kinds.ts';
import { contestRules } from '../../controller/drift/index.ts';
import { connect, KubeClient, type RequestFacts } from '../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { FaultyProxy } from './kube/faulty-proxy.ts';
import { databaseService, eventually, installCrd, RunningPlumbline } from './running-plumbline.ts';
import { edit } from './soak/editors.ts';
import { wreak } from './soak/faults.ts';
import { usedMb } from './soak/memory.ts';
import { Random } from './soak/random.ts';
import { falsehood } from './truth.ts';

/** With SOAK=whole as long as it takes to find what comes seldom: 3 minutes of edits, a minute of silence. */
const isWhole = process.env['SOAK'] === 'whole';
const { editMs, quietMs, trueWithinMs } = isWhole
  ? { editMs: 180_000, quietMs: 60_000, trueWithinMs: 300_000 }
  : { editMs: 30_000, quietMs: 10_000, trueWithinMs: 120_000 };
const warmUpMs = 10_000;
const count = 50;
const editors = 4;
const spec = { backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } }, upgrade: { healthTimeoutSeconds: 86_400 } };

test(`${count} databases, ${editors} editors and an API server that fails: at the end all is true, nothing is asked any more, and memory is level`, async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 100_000);
  t.diagnostic(`SEED=${seed}`);
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const namespace = await newNamespace(cluster, 'soak');
  const [direct, upstream] = [
    await connect({ kubeconfig: cluster.kubeconfig }),
    await connect({ kubeconfig: cluster.kubeconfig }),
  ];
  const kube = new KubeClient(direct);
  await using proxy = await FaultyProxy.start(upstream);
  const proxied = await connect({ kubeconfig: await proxy.kubeconfig() });
  await using _closing = {
    [Symbol.asyncDispose]: async () => void (await Promise.all([proxied, direct, upstream].map((one) => one.close()))),
  };
  let asked: RequestFacts[] = [];
  const onRequest = (facts: RequestFacts): void => void (facts.verb !== 'watch' && asked.push(facts));
  await using running = await RunningPlumbline.start(cluster, {
    namespace,
    kube: new KubeClient(proxied, { onRequest }),
    // So many edits of one field would be a fight, whoever makes them.
    contest: { ...contestRules, flips: 10_000 },
  });
  const databases = Array.from({ length: count }, (_, n) => `db-${n}`);
  for (const name of databases) {
    await kube.create(databaseService(namespace, name, spec), { type: databaseServices, fieldManager: 'kubectl' });
  }

  const isTrue = async (): Promise<string | undefined> => {
    const found = await Promise.all(databases.map((name) => falsehood(kube, { namespace, name })));
    return found.find((one) => one !== undefined);
  };
  /** One database after the other: with nobody editing, one that is true stays so. All are looked at again at the end. */
  const untilTrue = async (): Promise<void> => {
    const left = new Set(databases);
    let found: string | undefined;
    const check = async (): Promise<true | undefined> => {
      for (const name of left) {
        found = await falsehood(kube, { namespace, name });
        if (found !== undefined) return undefined;
        left.delete(name);
      }
      return true;
    };
    await eventually('all is true', check, trueWithinMs).catch((cause: unknown) => {
      const about = /db-\d+/.exec(found ?? '')?.[0] ?? '';
      const lines = running.logLines.filter((line) => line.includes(`/${about}"`)).slice(-10);
      throw new Error(`${found}\n${lines.join('')}`, { cause });
    });
  };
  const untilQuiet = async (ms: number): Promise<void> => {
    const check = async (): Promise<true | undefined> => {
      asked = [];
      await setTimeout(ms);
      return asked.length === 0 || undefined;
    };
    await eventually(`nothing is asked for ${ms / 1000} s`, check, trueWithinMs);
  };
  const disturb = async (ms: number, salt: number): Promise<string> => {
    const signal = AbortSignal.timeout(ms);
    const random = (n: number) => new Random(seed + salt + n);
    const [faults, ...edits] = await Promise.all([
      wreak({ proxy, random: random(0), leavesStale: isWhole, signal }),
      ...Array.from({ length: editors }, (_, n) => edit({ kube, namespace, databases, random: random(n + 1), signal })),
    ]);
    return `${edits.reduce((sum, one) => sum + one, 0)} edits, ${faults} faults`;
  };

  await untilTrue();
  await disturb(warmUpMs, 0);
  await untilTrue();
  await untilQuiet(2_000);
  forget(running, proxy);
  const before = usedMb();
  const done = await disturb(editMs, 1_000);
  const start = Date.now();
  await untilTrue();
  const trueMs = Date.now() - start;
  await untilQuiet(quietMs);
  assert.equal(await isTrue(), undefined);
  const told = running.drifts.length;
  forget(running, proxy);
  const after = usedMb();
  t.diagnostic(
    `${done}; ${told} drifts told; true after ${(trueMs / 1000).toFixed(1)} s; memory ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`,
  );
  assert(told > 0);
  assert(after < before * 1.2 + 5, `memory grew from ${before} to ${after} MB`);
});

/** What the test itself keeps is not to be measured. */
function forget(running: RunningPlumbline, proxy: FaultyProxy): void {
  running.drifts.length = 0;
  running.logLines.length = 0;
  proxy.requests.length = 0;
}
