import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { engines } from '../../../constructs/engine.ts';
import { document } from '../../../controller/database/document.ts';
import { fieldManager } from '../../../controller/database/child.ts';
import { appliedEntry } from '../../../controller/drift/index.ts';
import { GitWriter } from '../../../controller/delivery/git/writer.ts';
import { systemClock, type KubeObject } from '../../../controller/kube/index.ts';
import { Syncer, type Tracking } from '../../argocd/syncer.ts';
import { Remote } from '../delivery/git/remote.ts';
import { eventually } from '../running-plumbline.ts';
import { PlayedMembers, ready } from './played-members.ts';
import { Shop, wholeSpec } from './shop.ts';

let remote: Remote;
let shop: Shop;
before(async () => {
  remote = new Remote();
  shop = await Shop.open({ git: newWriter() });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
  remote.remove();
});

/** Of each controller one of its own. */
function newWriter(): GitWriter {
  return new GitWriter({
    url: remote.url,
    branch: 'main',
    cluster: 'prod',
    directory: join(remote.root, `clone-${randomUUID()}`),
    clock: systemClock,
    windowMs: 100,
  });
}

/** An application over the folder of a database. */
function syncer(name: string, tracking?: Tracking): Syncer {
  const path = `clusters/prod/${shop.namespace}/${name}`;
  const application = `prod.${shop.namespace}.${name}`;
  return new Syncer({ cluster: shop.cluster, url: remote.url, path, name: application, ...(tracking && { tracking }) });
}

/** Waits until a change of the spec is in Git, and all is done about it. */
async function committed(name: string, act: () => Promise<unknown>): Promise<void> {
  const before = (await shop.status(name).catch(() => undefined))?.git?.commit;
  await act();
  await eventually(`a commit of ${name}`, async () => {
    const commit = (await shop.status(name))?.git?.commit;
    return (commit !== undefined && commit !== before) || undefined;
  });
  await shop.running.settled();
}

/** What a node, Patroni and the controllers of Kubernetes write while a database comes up. */
async function comeUp(name: string): Promise<void> {
  const members = new PlayedMembers(shop, name);
  for (const suffix of ['leader', 'failover', 'sync']) {
    const metadata = { name: `${name}-patroni-${suffix}`, namespace: shop.namespace };
    const labels = { 'plumbline.dev/patroni': `${name}-patroni` };
    const annotations = { leader: `${name}-0`, ttl: '20' };
    await shop.kube.create(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, labels, annotations } },
      { type: shop.typeOf('ConfigMap'), fieldManager: 'Patroni' },
    );
  }
  const body = { metadata: { annotations: { initialize: '7300000000000000000', history: '[]' } } };
  await shop.patch('ConfigMap', `${name}-patroni-config`, { body, fieldManager: 'Patroni' });
  for (const ordinal of [0, 1, 2]) await eventually('the pod is there', () => shop.get('Pod', `${name}-${ordinal}`));
  for (const ordinal of [0, 1, 2]) {
    await members.role(ordinal, ordinal === 0 ? 'primary' : 'replica');
    await members.say(ordinal, ready);
  }
  await eventually(`${name} runs`, async () => (await shop.status(name))?.phase === 'Running' || undefined);
  await shop.running.settled();
}

describe('with delivery.apply: true, where Plumbline and Argo CD both apply', () => {
  let application: Syncer;
  before(async () => {
    await committed('orders', () => shop.submit('orders', wholeSpec));
    application = syncer('orders');
  });
  after(() => application[Symbol.dispose]());

  test('what Plumbline has applied is what a sync would apply, but for the mark of Argo CD', async () => {
    const marks = (await application.outOfSync()).map((place) => place.replace(/^\S+ /, ''));
    assert.ok(marks.length > 10, marks.join());
    for (const mark of marks) assert.match(mark, /^metadata\.annotations(\.argocd\.argoproj\.io\/tracking-id)?$/);
  });

  test('a sync is no drift, and after it nothing is out of sync', async () => {
    await application.sync();
    await shop.running.settled();
    assert.deepEqual(await application.outOfSync(), []);
    assert.deepEqual(await shop.receipts('orders'), []);
  });

  test('nor is anything of what Kubernetes, Patroni and Plumbline write while it comes up', async () => {
    await comeUp('orders');
    assert.deepEqual(await application.outOfSync(), []);
    assert.deepEqual(await shop.receipts('orders'), []);
  });

  test('an edit by a person is put back by Plumbline before Argo CD looks', async () => {
    await shop.patch('PodDisruptionBudget', 'orders', { body: { spec: { maxUnavailable: 2 } } });
    await eventually('it is put back', async () => (await shop.receipts('orders')).length === 1 || undefined);
    await shop.running.settled();
    assert.deepEqual(await application.outOfSync(), []);
  });

  test('a change of the spec is applied and committed, so that Argo CD finds it done', async () => {
    await committed('orders', () =>
      shop.edit('orders', { replicas: 2, access: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } }),
    );
    await eventually('both are in force', async () => {
      const { spec } = (await shop.get('StatefulSet', 'orders')) as unknown as { spec: { replicas: number } };
      return spec.replicas === 2 || undefined;
    });
    await shop.running.settled();
    assert.deepEqual(await application.outOfSync(), []);
    await application.sync();
    await shop.running.settled();
    assert.equal((await shop.receipts('orders')).length, 1, 'the edit before');
  });

  test('what the spec drops goes when both have dropped it', async () => {
    const nodeSelector = { disk: 'fast' };
    await committed('orders', () => shop.edit('orders', { scheduling: { nodeSelector } }));
    await application.sync();
    await committed('orders', () => shop.edit('orders', { scheduling: null }));
    await application.sync();
    await shop.running.settled();
    assert.deepEqual(await application.outOfSync(), []);
    assert.doesNotMatch(JSON.stringify(await shop.get('CronJob', 'orders-backup')), /"disk"/);
    await shop.untilCondition('orders', 'Drifted', /^False/);
  });

  // https://github.com/argoproj/argo-cd/issues/5431 and https://github.com/argoproj/argo-cd/issues/12388
  test('an application that has the name of a database and tracks by label finds nothing of it that it could delete', async () => {
    const kinds = 'configmaps,secrets,services,persistentvolumeclaims,statefulsets,cronjobs,roles,rolebindings';
    const { stdout, code } = await shop.cluster.kubectlRun([
      'get',
      `${kinds},serviceaccounts,networkpolicies,poddisruptionbudgets`,
      '--all-namespaces',
      '--selector=app.kubernetes.io/instance=orders',
      '--output=json',
    ]);
    assert.equal(code, 0);
    const { items } = JSON.parse(stdout) as { readonly items: readonly KubeObject[] };
    const ours = items.filter(({ metadata }) => metadata.namespace === shop.namespace);
    assert.ok(
      ours.some(({ kind }) => kind === 'StatefulSet'),
      'they bear the label',
    );
    // Argo CD prunes nothing that has an owner.
    const free = ours.filter(({ metadata }) => (metadata.ownerReferences ?? []).length === 0);
    assert.deepEqual(free, []);
    assert.deepEqual(
      ours.filter(({ kind }) => kind === 'PersistentVolumeClaim' || kind === 'Secret'),
      [],
    );
  });
});

describe('with delivery.apply: false, where Argo CD applies', () => {
  let application: Syncer;
  before(async () => {
    await committed('gitops', () => shop.submit('gitops', { ...wholeSpec, delivery: { apply: false } }));
    application = syncer('gitops');
  });
  after(() => application[Symbol.dispose]());

  const rendered = {
    ServiceAccount: 'gitops-members',
    Role: 'gitops-members',
    RoleBinding: 'gitops-members',
    ConfigMap: 'gitops-patroni',
    Service: 'gitops',
    StatefulSet: 'gitops',
    PodDisruptionBudget: 'gitops',
    NetworkPolicy: 'gitops',
    CronJob: 'gitops-backup',
    PersistentVolumeClaim: 'gitops-backup',
  } as const;
  const kinds = Object.keys(rendered);
  const uids = async () =>
    Promise.all(
      [...Object.entries(rendered), ...[0, 1, 2].map((i) => ['Pod', `gitops-${i}`] as const)].map(
        async ([kind, name]) => (await shop.get(kind, name))?.metadata.uid,
      ),
    );
  /** Kinds of which we own something. */
  const ours = async () => {
    const live = await Promise.all(Object.entries(rendered).map(([kind, name]) => shop.get(kind, name)));
    return live.flatMap((object) => (object && appliedEntry(object, fieldManager) ? [object.kind] : []));
  };

  test('a sync applies it, and then nothing is out of sync', async () => {
    assert.ok((await application.outOfSync()).includes('StatefulSet/gitops'), 'it is missing');
    await application.sync();
    await shop.running.settled();
    assert.deepEqual(await application.outOfSync(), []);
  });

  test('nor is anything of what Kubernetes, Patroni and Plumbline write while it comes up', async () => {
    await comeUp('gitops');
    assert.deepEqual(await application.outOfSync(), []);
  });

  test('an edit by a person is out of sync until the next sync: Plumbline leaves it', async () => {
    const made = await shop.requestsFor(async () => {
      await shop.patch('PodDisruptionBudget', 'gitops', { body: { spec: { maxUnavailable: 2 } } });
      await shop.untilCondition(
        'gitops',
        'Synced',
        /^False LiveWasChanged: kubectl-edit changed spec\.maxUnavailable /,
      );
    });
    assert.deepEqual([...new Set(made)].sort(), ['apply DatabaseService', 'create Event']);
    assert.deepEqual(await application.outOfSync(), ['PodDisruptionBudget/gitops spec.maxUnavailable']);
    const [receipt, ...others] = await shop.receipts('gitops');
    assert.deepEqual([receipt?.action, receipt?.manager, others], ['Reported', 'kubectl-edit', []]);
    await shop.untilCondition('gitops', 'Drifted', /^True LiveWasChanged/);
    await application.sync();
    assert.deepEqual(await application.outOfSync(), []);
    await shop.untilCondition('gitops', 'Synced', /^True LiveIsCurrent/);
    await shop.untilCondition('gitops', 'Drifted', /^False NotApplied/);
  });

  test('a change of the spec is out of sync exactly where it changes something, until the next sync', async () => {
    await committed('gitops', () => shop.edit('gitops', { access: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } }));
    const places = await application.outOfSync();
    assert.deepEqual([...new Set(places.map((place) => place.split(' ')[0]))], ['NetworkPolicy/gitops']);
    await application.sync();
    assert.deepEqual(await application.outOfSync(), []);
  });

  test('Plumbline can be told to apply as well, and not to any more, and neither is seen by Argo CD', async () => {
    const before = await uids();
    assert.deepEqual(await ours(), [], 'nothing is ours');
    await shop.edit('gitops', { delivery: { apply: true } });
    await shop.untilCondition('gitops', 'Drifted', /^False InTrue/);
    await shop.running.settled();
    assert.deepEqual(await ours(), kinds, 'all is ours');
    assert.deepEqual(await application.outOfSync(), []);
    await shop.edit('gitops', { delivery: { apply: false } });
    await shop.untilCondition('gitops', 'Synced', /^True LiveIsCurrent/);
    await shop.running.settled();
    assert.deepEqual(await ours(), [], 'it was given back');
    assert.deepEqual(await application.outOfSync(), []);
    await application.sync();
    await shop.running.settled();
    assert.deepEqual(await uids(), before);
    assert.equal((await shop.receipts('gitops')).length, 1, 'the edit before');
  });

  test('what Plumbline has applied before it was told not to goes with the sync when the spec drops it', async () => {
    const nodeSelector = { disk: 'fast' };
    await committed('gitops', () => shop.edit('gitops', { scheduling: { nodeSelector }, delivery: { apply: true } }));
    await application.sync();
    await committed('gitops', () => shop.edit('gitops', { scheduling: null, delivery: { apply: false } }));
    await application.sync();
    await shop.untilCondition('gitops', 'Synced', /^True LiveIsCurrent/);
    assert.doesNotMatch(JSON.stringify(await shop.get('CronJob', 'gitops-backup')), /"disk"/);
    assert.deepEqual(await ours(), []);
  });

  test('a label of Argo CD over ours leads no Service astray and is not fought over', async () => {
    await committed('labelled', () => shop.submit('labelled', { ...wholeSpec, delivery: { apply: false } }));
    using byLabel = syncer('labelled', 'label');
    await byLabel.sync();
    await comeUp('labelled');
    assert.deepEqual(await byLabel.outOfSync(), []);
    for (const name of ['labelled', 'labelled-ro', 'labelled-members']) {
      const service = await shop.get('Service', name);
      assert.equal(service?.metadata.labels?.['app.kubernetes.io/instance'], `prod.${shop.namespace}.labelled`);
      assert.doesNotMatch(JSON.stringify(service['spec']), /app\.kubernetes\.io/);
    }
    assert.deepEqual(await shop.requestsFor(() => byLabel.sync()), []);
  });
});

describe('with delivery.apply: false, the way of a change through Git', () => {
  const gitOnly = { ...wholeSpec, delivery: { apply: false } } as const;
  let application: Syncer;
  before(async () => {
    await committed('chain', () => shop.submit('chain', gitOnly));
    application = syncer('chain');
  });
  after(() => application[Symbol.dispose]());

  const commit = () => remote.inRemote('rev-parse', 'main');
  const inGit = (file: string) => remote.read(`clusters/prod/${shop.namespace}/chain/${file}`);
  /** What the stewards say of the settings as they are now. */
  const read = async () => {
    const { engine } = (await shop.resource('chain')).spec;
    const digest = engines[engine].settingsDigest(document(await shop.resource('chain')));
    for (const ordinal of [0, 1, 2].slice(0, (await shop.resource('chain')).spec.replicas)) {
      const settings = JSON.stringify({ digest, refused: {}, restart: {} });
      const body = { metadata: { annotations: { 'plumbline.dev/settings': settings } } };
      await shop.patch('Pod', `chain-${ordinal}`, { body, fieldManager: 'Patroni' });
    }
  };
  const podUids = () => Promise.all([0, 1, 2].map(async (i) => (await shop.get('Pod', `chain-${i}`))?.metadata.uid));
  const history = async () =>
    (JSON.stringify((await shop.get('ConfigMap', 'chain-history'))?.['data'] ?? {}).match(/number/g) ?? []).length;

  test('the conditions tell of each part of it, with the commit', async () => {
    await shop.untilCondition('chain', 'Committed', new RegExp(`^True Pushed: Commit ${commit()} was pushed`));
    await shop.untilCondition('chain', 'Synced', /^False SyncPending: .* has yet to apply .* and \d+ more/);
    await application.sync();
    await shop.untilCondition('chain', 'Synced', new RegExp(`^True LiveIsCurrent: .* commit ${commit()}`));
    assert.match(await shop.condition('chain', 'Ready'), /^False/);
    await comeUp('chain');
    await read();
    await eventually('the revision is stable', async () => (await history()) === 1 || undefined);
    assert.match(await shop.condition('chain', 'Ready'), /^True/);
    assert.deepEqual(await application.outOfSync(), []);
  });

  test('a controller that is started anew says the same, without writing it', async () => {
    await shop.restart(undefined, { git: newWriter() });
    const made = shop.running.requests.map(({ verb, type }) => `${verb} ${type?.kind}`);
    assert.equal(made.includes('apply DatabaseService'), false, made.join());
    assert.match(await shop.condition('chain', 'Committed'), new RegExp(`^True Pushed: Commit ${commit()}`));
  });

  test('a changed template is not committed while a member is missing, nor by a controller that is started meanwhile', async () => {
    const members = new PlayedMembers(shop, 'chain');
    await members.role(1, 'replica', { replication_state: 'in archive recovery' });
    await read();
    await shop.edit('chain', { resources: { requests: { cpu: '777m' } } });
    await shop.untilCondition('chain', 'Committed', /^False ChangeHeld: .* waits until chain-1 is back\./);
    await shop.restart(undefined, { git: newWriter() });
    await shop.untilCondition('chain', 'Committed', /^False ChangeHeld/);
    assert.doesNotMatch(inGit('statefulset.chain.yaml'), /777m/);
    // WHEN it is back
    await members.role(1, 'replica');
    await read();
    await eventually('it is committed', () => /777m/.test(inGit('statefulset.chain.yaml')) || undefined);
  });

  test('and no member is made again before the tool has applied it', async () => {
    const before = await podUids();
    await shop.untilCondition('chain', 'Synced', /^False SyncPending: .* StatefulSet chain/);
    await shop.running.settled();
    assert.deepEqual(await podUids(), before);
    await application.sync();
    await eventually('the last replica is made again', async () => {
      const uid = (await shop.get('Pod', 'chain-2'))?.metadata.uid;
      return (uid !== undefined && uid !== before[2]) || undefined;
    });
    assert.deepEqual((await podUids()).slice(0, 2), before.slice(0, 2));
  });

  test('fewer members are committed when the primary is one that stays', async () => {
    // GIVEN members of which the last is the primary
    const members = new PlayedMembers(shop, 'chain');
    const lead = async (leader: number) => {
      const others = [0, 1, 2].filter((ordinal) => ordinal !== leader).map((ordinal) => `chain-${ordinal}`);
      for (const [record, annotations] of [
        ['leader', { leader: `chain-${leader}` }],
        ['sync', { leader: `chain-${leader}`, sync_standby: others.join() }],
        ['failover', { leader: null, member: null }],
      ] as const) {
        const body = { metadata: { annotations } };
        await shop.patch('ConfigMap', `chain-patroni-${record}`, { body, fieldManager: 'Patroni' });
      }
      for (const ordinal of [0, 1, 2]) {
        await members.role(ordinal, ordinal === leader ? 'primary' : 'replica');
        await members.say(ordinal, ready);
      }
    };
    await lead(2);
    await read();
    await eventually(
      'the primary is known',
      async () => (await shop.status('chain'))?.primary === 'chain-2' || undefined,
    );
    // WHEN
    await shop.edit('chain', { replicas: 2 });
    await shop.untilCondition('chain', 'Committed', /^False ChangeHeld: Fewer members have to wait/);
    assert.match(inGit('statefulset.chain.yaml'), /replicas: 3$/m);
    await eventually('a switchover is asked for', async () => {
      const { annotations = {} } = (await shop.get('ConfigMap', 'chain-patroni-failover'))?.metadata ?? {};
      return annotations['leader'] === 'chain-2' || undefined;
    });
    await lead(0);
    await eventually('it is committed', () => /replicas: 2$/m.test(inGit('statefulset.chain.yaml')) || undefined);
  });
});
