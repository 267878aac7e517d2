import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { StoredGitDestination } from '../../../../constructs/api/git-destination/resource.ts';
import { events } from '../../../../controller/database/kinds.ts';
import { gitDestinations } from '../../../../controller/delivery/destinations/destinations.ts';
import { mayWatchDestinations } from '../../../../controller/delivery/destinations/may-watch.ts';
import { secrets } from '../../../../controller/delivery/destinations/secret-access.ts';
import { connect, KubeClient, systemClock, type Clock } from '../../../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../../../cluster/index.ts';
import { Shop } from '../../database/shop.ts';
import { eventually, installCrd } from '../../running-plumbline.ts';
import { givenRemote } from '../git/given.ts';
import { givenHttpsServer } from '../git/https-server.ts';
import { givenGitHubServer, otherPrivateKey } from '../github-app/github-server.ts';
import type { Remote } from '../git/remote.ts';
import { patience } from '../../../patience.ts';
import { discardFolder } from '../../../discard-folder.ts';

const tokens = ['s3cr3t-t0ken-one', 's3cr3t-t0ken-two'] as const;
/** git is started many times, on a machine that does much else. */
const patienceMs = 120_000;

const root = mkdtempSync(join(tmpdir(), 'plumbline-git-'));
/** Of the copies of the controller that runs. */
let folder = mkdtempSync(join(root, 'copies-'));
/** What its clock is ahead, in milliseconds. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs, sleep: (ms) => systemClock.sleep(ms) };
const options = () => ({ clock, destinations: { namespace: system, folder: () => folder, cluster: 'prod' } });
let shop: Shop;
/** Where the controller has its Secrets. */
let system: string;

/** Creates a destination that is removed with the test; there are others in the cluster, so its name is made unlike theirs. */
async function givenDestination(
  context: TestContext,
  name: string,
  spec: StoredGitDestination['spec'],
): Promise<string> {
  const unique = `${name}-${shop.namespace}`;
  const { apiVersion, kind } = gitDestinations;
  const object = { apiVersion, kind, metadata: { name: unique }, spec };
  await shop.kube.create(object, { type: gitDestinations, fieldManager: 'kubectl-create' });
  context.after(() => removeDestination(unique));
  return unique;
}

async function removeDestination(name: string): Promise<void> {
  await shop.kube.delete(gitDestinations, { name }).catch(() => undefined);
}

async function givenSecret(name: string, values: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: system }, data };
  await shop.kube.apply(object, { type: secrets, fieldManager: 'test', force: true });
}

async function destination(name: string): Promise<StoredGitDestination> {
  return (await shop.kube.get(gitDestinations, { name })) as unknown as StoredGitDestination;
}

async function isReady(name: string, reason: string): Promise<StoredGitDestination> {
  return eventually(
    `GitDestination ${name} is ${reason}`,
    async () => {
      const found = await destination(name);
      return found.status?.conditions?.[0]?.reason === reason ? found : undefined;
    },
    patienceMs,
  );
}

/** Another controller, with copies of its own, after what happens in between. */
async function restart(between: () => Promise<unknown>): Promise<void> {
  folder = mkdtempSync(join(root, 'copies-'));
  await shop.restart(between, options());
}

async function finalizers(name: string): Promise<readonly string[]> {
  return (await shop.resource(name)).metadata.finalizers ?? [];
}

/** Waits until a database is gone from the cluster. */
async function goes(name: string): Promise<void> {
  await eventually(
    `${name} is gone`,
    async () => (await shop.get('DatabaseService', name)) === undefined || undefined,
    patienceMs,
  );
}

async function isInGit(remote: Remote, file: string): Promise<void> {
  await eventually(
    `${file} is in Git`,
    () => (remote.commits() > 0 && remote.files().includes(file)) || undefined,
    patienceMs,
  );
}

async function isCommitted(remote: Remote, subject: RegExp): Promise<void> {
  await eventually(`${subject} is committed`, () => subject.test(remote.message()) || undefined, patienceMs);
}

async function isGone(remote: Remote, folder: string): Promise<void> {
  await eventually(
    `${folder} is gone from Git`,
    () => !remote.files().some((file) => file.startsWith(folder)) || undefined,
    patienceMs,
  );
}

/** The folder of the copy that was made last. */
function newestCopy(): string {
  const numbers = readdirSync(folder).map((name) => Number(/^destination-(\d+)$/.exec(name)?.[1]));
  return `destination-${Math.max(...numbers)}`;
}

/** Delivered to Git alone: so nothing of it is made in the cluster. */
function inGit(destination: string) {
  return { delivery: { apply: false, git: { destination } } };
}

// A controller looks after every destination of a cluster, so it lives no longer than these tests.
describe('databases are delivered to destinations', () => {
  before(async () => {
    const cluster = await sharedCluster();
    await installCrd(cluster);
    system = await newNamespace(cluster, 'system');
    shop = await Shop.open(options());
  });
  after(async () => {
    await shop[Symbol.asyncDispose]();
    discardFolder(root);
  });

  test('a destination takes the databases that name it, with the token of its Secret, and says so', async (t) => {
    // GIVEN
    const remote = givenRemote(t);
    const server = await givenHttpsServer(t, remote, `git:${tokens[0]}`);
    await givenSecret('https-login', { password: `${tokens[0]}\n`, 'ca.crt': server.authority });
    const name = await givenDestination(t, 'https', {
      url: server.url,
      credentials: { secretName: 'https-login' },
      author: { name: 'Data Team', email: 'data@example.org' },
    });
    const reached = await isReady(name, 'Reached');
    assert.equal(reached.status?.lastCommit, undefined);
    // WHEN
    await shop.submit('orders', inGit(name));
    await isInGit(remote, `clusters/prod/${shop.namespace}/orders/statefulset.orders.yaml`);
    // THEN
    const commit = remote.inRemote('rev-parse', 'main');
    assert.equal(remote.inRemote('log', '-1', '--format=%an <%ae>', 'main'), 'Data Team <data@example.org>');
    await eventually(
      'both tell of it',
      async () => {
        const { status } = await destination(name);
        const database = await shop.status('orders');
        return (status?.lastCommit === commit && database?.git?.commit === commit) || undefined;
      },
      patienceMs,
    );
    // AND nothing at rest
    await shop.running.settled(3000);

    // WHEN the token is withdrawn
    server.login = `git:${tokens[1]}`;
    await shop.edit('orders', { parameters: { work_mem: '8MB' } });
    // THEN the destination and the database say so, and neither says the token
    const refused = await isReady(name, 'CredentialsRefused');
    assert.equal(refused.status?.pending, 1);
    assert.equal(refused.status?.lastCommit, commit);
    await eventually(
      'the database tells of it',
      async () => (await shop.condition('orders', 'Progressing')).includes('GitFailed') || undefined,
      patienceMs,
    );
    // WHEN the Secret has the new one
    await givenSecret('https-login', { password: tokens[1], 'ca.crt': server.authority });
    // THEN it is delivered, without a restart
    const again = await isReady(name, 'Reached');
    assert.equal(again.status?.pending, 0);
    await eventually('it is in Git', () => remote.commits() === 2 || undefined, patienceMs);
    const told = [
      ...shop.running.logLines,
      JSON.stringify([refused, again, await shop.resource('orders'), await shop.list(events)]),
    ].join('\n');
    for (const token of tokens) assert.equal(told.includes(token), false, 'a token was told');
    await shop.delete('DatabaseService', 'orders');
    await isGone(remote, `clusters/prod/${shop.namespace}/orders/`);
  });

  test('a database goes along when its destination changes, and goes away when it names none', async (t) => {
    const remote = givenRemote(t);
    const first = await givenDestination(t, 'first', { url: remote.url });
    const second = await givenDestination(t, 'second', { url: `${remote.url}/`, path: 'databases/<namespace>/<name>' });
    await shop.submit('moving', inGit(first));
    await isInGit(remote, `clusters/prod/${shop.namespace}/moving/statefulset.moving.yaml`);
    // WHEN it names the other one
    await shop.edit('moving', inGit(second));
    await isInGit(remote, `databases/${shop.namespace}/moving/statefulset.moving.yaml`);
    await isGone(remote, 'clusters/');
    // WHEN the path of that one changes
    await shop.kube.patch(
      gitDestinations,
      { name: second },
      {
        kind: 'merge',
        fieldManager: 'kubectl-edit',
        body: { spec: { path: 'elsewhere/<namespace>/<name>' } },
      },
    );
    await isInGit(remote, `elsewhere/${shop.namespace}/moving/statefulset.moving.yaml`);
    await isGone(remote, 'databases/');
    // WHEN it names none, and the repository does not let its files be removed
    remote.hook('pre-receive', 'exit 1');
    await shop.edit('moving', { delivery: { git: null } });
    await shop.untilCondition(
      'moving',
      'Committed',
      new RegExp(`^False OldFilesRemain: Its files in GitDestination ${second}, .* does not take the commit`),
    );
    remote.hook('pre-receive', 'exit 0');
    await eventually('it is gone from Git', () => remote.files().join('') === '' || undefined, patienceMs);
    await shop.untilCondition('moving', 'Committed', /^none$/);
    await shop.delete('DatabaseService', 'moving');
  });

  test('a destination that does not exist, or not for the namespace, is named, and counts as soon as it does', async (t) => {
    const remote = givenRemote(t);
    const name = `later-${shop.namespace}`;
    await shop.submit('waiting', inGit(name));
    const says = (words: RegExp) =>
      eventually(
        `the database says ${words}`,
        async () => words.test(await shop.condition('waiting', 'Stalled')) || undefined,
      );
    await says(/^True DestinationUnusable: GitDestination later-\S+ does not exist/);
    await givenDestination(t, 'later', { url: remote.url, namespaces: ['elsewhere'] });
    await says(/DestinationUnusable: GitDestination later-\S+ is not for the namespace/);
    assert.equal(remote.commits(), 0);
    // WHEN it is for the namespace
    await shop.kube.patch(
      gitDestinations,
      { name },
      {
        kind: 'merge',
        fieldManager: 'kubectl-edit',
        body: { spec: { namespaces: [shop.namespace] } },
      },
    );
    await isInGit(remote, `clusters/prod/${shop.namespace}/waiting/statefulset.waiting.yaml`);
    await eventually(
      'it says nothing more',
      async () => (await shop.condition('waiting', 'Stalled')).startsWith('False') || undefined,
    );
    const copy = newestCopy();
    // WHEN it goes
    await removeDestination(name);
    await says(/DestinationUnusable/);
    const file = `clusters/prod/${shop.namespace}/waiting/statefulset.waiting.yaml`;
    assert.ok(remote.files().includes(file), 'what is in Git stays there');
    await eventually('its copy is removed', () => !readdirSync(folder).includes(copy) || undefined);
    // WHEN it comes back, and somebody has removed a file meanwhile
    remote.somebodyPushes({ [file]: undefined });
    await givenDestination(t, 'later', { url: remote.url });
    await isInGit(remote, file);
    await shop.delete('DatabaseService', 'waiting');
  });

  test('a Secret that is missing is named, and the destinations of others go on', async (t) => {
    const remote = givenRemote(t);
    const broken = await givenDestination(t, 'broken', {
      url: 'https://git.invalid/x.git',
      credentials: { secretName: 'not-there' },
    });
    const whole = await givenDestination(t, 'whole', { url: remote.url });
    const { status } = await isReady(broken, 'SecretNotFound');
    assert.match(status?.conditions?.[0]?.message ?? '', /^Secret not-there does not exist in the namespace system-/);
    await shop.submit('kept', inGit(broken));
    await shop.submit('going', inGit(whole));
    await isInGit(remote, `clusters/prod/${shop.namespace}/going/statefulset.going.yaml`);
    await eventually(
      'the other one says why',
      async () => (await shop.condition('kept', 'Progressing')).includes('not-there') || undefined,
    );
    await shop.delete('DatabaseService', 'kept');
    await shop.delete('DatabaseService', 'going');
  });

  test('destinations that mean one branch share a writer: what two databases change within the window is one commit', async (t) => {
    const remote = givenRemote(t);
    const east = await givenDestination(t, 'east', { url: remote.url, windowSeconds: 5 });
    const west = await givenDestination(t, 'west', {
      url: remote.url.replace(/\.git$/, '.git/'),
      path: 'west/<namespace>/<name>',
    });
    await isReady(east, 'Reached');
    await isReady(west, 'Reached');
    await shop.submit('one', inGit(east));
    await shop.submit('two', inGit(west));
    await isInGit(remote, `clusters/prod/${shop.namespace}/one/statefulset.one.yaml`);
    await isInGit(remote, `west/${shop.namespace}/two/statefulset.two.yaml`);
    assert.equal(remote.commits(), 1);
    assert.match(remote.message(), /^Add 2 databases: /);
    // WHEN somebody removes a file of the one, and the other one is changed
    const file = `clusters/prod/${shop.namespace}/one/service.one.yaml`;
    remote.somebodyPushes({ [file]: undefined });
    await shop.edit('two', { parameters: { work_mem: '8MB' } });
    // THEN it is there again
    await isInGit(remote, file);
    await shop.delete('DatabaseService', 'one');
    await shop.delete('DatabaseService', 'two');
  });

  test('a GitHub App pushes with the token that it is given for its key, which nothing shows', async (t) => {
    // GIVEN a repository that takes the newest token and nothing else
    const remote = givenRemote(t);
    const github = await givenGitHubServer(t);
    const server = await givenHttpsServer(t, remote, 'nobody');
    server.login = undefined;
    github.onToken = (token) => void (server.login = `x-access-token:${token}`);
    const authority = `${server.authority}${github.app.certificateAuthority}`;
    await givenSecret('github-app', { 'private-key.pem': otherPrivateKey, 'ca.crt': authority });
    const { appId, installationId, apiUrl } = github.app;
    const name = await givenDestination(t, 'app', {
      url: server.url,
      credentials: { secretName: 'github-app', githubApp: { appId, installationId, apiUrl } },
    });
    const refused = await isReady(name, 'GitHubKeyRefused');
    // WHEN the Secret has the right key
    await givenSecret('github-app', { 'private-key.pem': github.privateKey, 'ca.crt': authority });
    await isReady(name, 'Reached');
    await shop.submit('by-app', inGit(name));
    await isInGit(remote, `clusters/prod/${shop.namespace}/by-app/statefulset.by-app.yaml`);
    // THEN one token was enough
    assert.equal(github.tokens.length, 1);
    // WHEN it is taken back before its time
    server.login = undefined;
    await shop.edit('by-app', { replicas: 2 });
    // THEN another one is asked for
    await eventually('it is in Git', () => remote.commits() === 2 || undefined, patienceMs);
    await isReady(name, 'Reached');
    assert.equal(github.tokens.length, 2);
    // WHEN the App is suspended, and the token taken back
    github.isSuspended = true;
    server.login = undefined;
    await shop.edit('by-app', { replicas: 3 });
    const suspended = await isReady(name, 'GitHubInstallationRefused');
    // THEN
    const told = [
      ...shop.running.logLines,
      JSON.stringify([refused, suspended, await shop.resource('by-app'), await shop.list(events)]),
    ].join('\n');
    for (const secret of [...github.tokens, ...github.proofs, github.privateKey.split('\n')[1] ?? ''])
      assert.equal(told.includes(secret), false, 'a secret was told');
    github.isSuspended = false;
    await shop.delete('DatabaseService', 'by-app');
    await goes('by-app');
  });

  test('with pullRequest a change waits on a branch until people merge it, and the conditions tell', async (t) => {
    // GIVEN a database in main
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'reviewed', { url: remote.url });
    await shop.submit('careful', inGit(name));
    const file = `clusters/prod/${shop.namespace}/careful/statefulset.careful.yaml`;
    await isInGit(remote, file);
    const main = remote.inRemote('rev-parse', 'main');
    // WHEN changes are to be reviewed from now on
    const patch = (spec: object) =>
      shop.kube.patch(gitDestinations, { name }, { kind: 'merge', fieldManager: 'kubectl-edit', body: { spec } });
    await patch({ pullRequest: {} });
    await shop.untilCondition('careful', 'Merged', /^True Merged: The branch main has it/);
    await shop.edit('careful', { replicas: 2 });
    // THEN
    const branch = `plumbline/prod/${name}`;
    await shop.untilCondition(
      'careful',
      'Merged',
      new RegExp(`^False ReviewPending: .* waits on the branch ${branch} to`),
    );
    const commit = remote.inRemote('rev-parse', branch);
    assert.equal(remote.inRemote('rev-parse', 'main'), main, 'main is left alone');
    assert.ok((await shop.condition('careful', 'Committed')).startsWith(`True Pushed: Commit ${commit} was pushed`));
    await shop.untilCondition('careful', 'Synced', /^False MergePending/);
    await eventually('it is counted', async () => (await destination(name)).status?.inReview === 1 || undefined);
    // WHEN it is merged, and somebody has the repository looked at
    remote.somebodyMerges(branch, 'squash');
    remote.inRemote('update-ref', '-d', `refs/heads/${branch}`);
    await patch({ windowSeconds: 0 });
    // THEN
    await shop.untilCondition('careful', 'Merged', /^True Merged/);
    await shop.untilCondition('careful', 'Synced', /^False SyncPending/);
    await eventually('nothing waits', async () => (await destination(name)).status?.inReview === 0 || undefined);
    // WHEN two destinations want one branch for different targets
    const second = await givenDestination(t, 'second-reviewed', {
      url: remote.url,
      branch: 'prod',
      pullRequest: { branch },
    });
    const { status } = await isReady(second, 'BranchTaken');
    assert.match(status?.conditions?.[0]?.message ?? '', /writes the branch plumbline\/prod\/reviewed-\S+ for another/);
    // WHEN the database is deleted
    await shop.delete('DatabaseService', 'careful');
    // THEN its removal waits, and it does not
    await goes('careful');
    assert.ok(remote.files().includes(file));
    assert.ok(!remote.files(branch).includes(file));
  });

  test('a password that somebody puts into the spec gets no farther', async (t) => {
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'guarded', { url: remote.url });
    await shop.submit('leaky', inGit(name));
    const file = `clusters/prod/${shop.namespace}/leaky/configmap.leaky-patroni-config.yaml`;
    await isInGit(remote, file);
    // One that Plumbline makes would be told by the watch for leaks: it stands in the spec.
    const password = `chosen-by-a-person-${randomBytes(6).toString('hex')}`;
    await shop.patch('Secret', 'leaky-credentials', { body: { stringData: { password } } });
    await shop.running.settled(1000);
    // WHEN
    await shop.edit('leaky', { parameters: { log_line_prefix: `user ${password} ` } });
    // THEN
    await shop.untilCondition('leaky', 'Committed', /^False GitFailed: \S+ holds a password of the database/);
    assert.equal(remote.commits(), 1);
    const told = JSON.stringify([(await shop.resource('leaky')).status, await shop.list(events)]);
    assert.equal(told.includes(password) || shop.running.logLines.join('').includes(password), false);
    // AND it goes on when that is taken out
    await shop.edit('leaky', { parameters: { log_line_prefix: '%m [%p] %q%u@%d %a ' } });
    await eventually('it is committed', () => remote.commits() === 2 || undefined, patienceMs);
    await shop.delete('DatabaseService', 'leaky');
    await goes('leaky');
  });

  test('a database that is deleted, or goes elsewhere, while no controller runs, leaves no folder behind', async (t) => {
    // GIVEN three in Git
    const remote = givenRemote(t);
    const first = await givenDestination(t, 'one-place', { url: remote.url });
    const second = await givenDestination(t, 'another-place', { url: remote.url, path: 'second/<namespace>/<name>' });
    const folderOf = (name: string) => `clusters/prod/${shop.namespace}/${name}/`;
    for (const name of ['ending', 'moving-on', 'coming-home']) {
      await shop.submit(name, inGit(first));
      await isInGit(remote, `${folderOf(name)}statefulset.${name}.yaml`);
      assert.deepEqual(await finalizers(name), [`git.plumbline.dev/${first}`]);
    }
    // WHEN nobody is there to see it
    await restart(async () => {
      await shop.delete('DatabaseService', 'ending');
      await shop.edit('moving-on', inGit(second));
      await shop.edit('coming-home', { delivery: null });
      assert.notEqual(await shop.get('DatabaseService', 'ending'), undefined, 'it waits');
    });
    // THEN
    await goes('ending');
    for (const name of ['ending', 'moving-on', 'coming-home']) await isGone(remote, folderOf(name));
    await isInGit(remote, `second/${shop.namespace}/moving-on/statefulset.moving-on.yaml`);
    await eventually('one finalizer is left', async () => {
      const left = [...(await finalizers('moving-on')), ...(await finalizers('coming-home'))];
      return left.join() === `git.plumbline.dev/${second}` || undefined;
    });
    await shop.delete('DatabaseService', 'moving-on');
    await goes('moving-on');
    await isGone(remote, 'second/');
    await shop.delete('DatabaseService', 'coming-home');
  });

  test('who edits a file in Git is named; policy Report leaves it, also over a restart, and Correct undoes it', async (t) => {
    // GIVEN a database of which nothing is put back
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'edited', { url: remote.url });
    await shop.submit('edited', { ...inGit(name), drift: { policy: 'Report' } });
    const file = `clusters/prod/${shop.namespace}/edited/service.edited.yaml`;
    await shop.untilCondition('edited', 'Committed', /^True Pushed/);
    // WHEN somebody edits a file, and something else is committed
    const rendered = remote.read(file);
    const theirs = rendered.replace(/app.kubernetes.io\/component: \w+/, 'app.kubernetes.io/component: other');
    assert.notEqual(theirs, rendered);
    remote.somebodyPushes({ [file]: theirs });
    const commit = remote.inRemote('rev-parse', 'main');
    await shop.submit('bystander', inGit(name));
    // THEN
    const who = `Some Body <somebody@example\\.org> \\(commit ${commit}\\)`;
    const what = `changed metadata\\.labels\\S+ of File/${file} from \\S+ to other`;
    const left = new RegExp(`^False EditedInGit: ${who} ${what}\\. It is left`);
    await shop.untilCondition('edited', 'Committed', left);
    const receipts = async () => (await shop.status('edited'))?.drift?.receipts ?? [];
    const [receipt, ...others] = await receipts();
    assert.equal(receipt?.manager, 'Some Body <somebody@example.org>');
    assert.equal(receipt.operation, `Commit ${commit}`);
    assert.equal(receipt.action, 'Reported');
    assert.deepEqual(others, []);
    // AND another controller leaves it too, and tells it no second time
    await restart(async () => undefined);
    await shop.edit('bystander', { replicas: 2 });
    await isCommitted(remote, /bystander/);
    await shop.untilCondition('edited', 'Committed', left);
    assert.equal(remote.read(file), theirs);
    assert.equal((await receipts()).length, 1);
    // WHEN
    await shop.edit('edited', { drift: { policy: 'Correct' } });
    // THEN
    await shop.untilCondition('edited', 'Committed', /^True Pushed/);
    assert.equal(remote.read(file), rendered);
    const [undone] = await receipts();
    assert.equal(undone?.action, 'Corrected');
    assert.equal(undone.operation, `Commit ${commit}`);
    assert.ok(shop.running.logLines.some((line) => line.includes(`(commit ${commit})`) && line.includes('put back')));
    await shop.delete('DatabaseService', 'edited');
    await shop.delete('DatabaseService', 'bystander');
    await goes('edited');
    await goes('bystander');
  });

  test('while its files cannot be removed a database waits and says so, and goes by the annotation', async (t) => {
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'closed', { url: remote.url });
    await shop.submit('stuck', inGit(name));
    const file = `clusters/prod/${shop.namespace}/stuck/statefulset.stuck.yaml`;
    await isInGit(remote, file);
    await eventually('it knows that', async () => (await shop.status('stuck'))?.git, patienceMs);
    // WHEN the repository takes nothing any more, and the database is deleted
    remote.hook('pre-receive', 'exit 1');
    await shop.delete('DatabaseService', 'stuck');
    // THEN
    await eventually(
      'it says why it waits',
      async () => {
        const said = await shop.condition('stuck', 'Committed');
        return (
          /^False RemovalPending: .*\/stuck of the Git repository .* does not take the commit/.test(said) || undefined
        );
      },
      patienceMs,
    );
    assert.equal((await shop.status('stuck'))?.phase, 'Deleting');
    // WHEN
    const annotations = { 'plumbline.dev/leave-git': 'true' };
    await shop.patch('DatabaseService', 'stuck', { body: { metadata: { annotations } } });
    // THEN
    await goes('stuck');
    assert.ok(remote.files().includes(file));
    await eventually('an Event says what was left', async () => {
      const all = await shop.list(events);
      return all.some(
        (event) =>
          event['reason'] === 'LeftInGit' && String(event['message']).startsWith('Its files stay in clusters/prod'),
      );
    });
  });

  test('a database goes after a time though its destination is gone', async (t) => {
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'vanishing', { url: remote.url });
    await shop.submit('orphaned', inGit(name));
    const file = `clusters/prod/${shop.namespace}/orphaned/statefulset.orphaned.yaml`;
    await isInGit(remote, file);
    await removeDestination(name);
    await shop.untilCondition('orphaned', 'Stalled', /DestinationUnusable/);
    await shop.delete('DatabaseService', 'orphaned');
    await shop.untilCondition('orphaned', 'Committed', /^False RemovalPending: .* does not exist/);
    // WHEN five minutes have passed
    aheadMs += 5 * 60_000;
    await shop.patch('DatabaseService', 'orphaned', { body: { metadata: { annotations: { any: 'thing' } } } });
    // THEN
    await goes('orphaned');
    assert.ok(remote.files().includes(file));
    assert.ok(shop.running.logLines.some((line) => line.includes('Its files were left in clusters/prod')));
  });

  test('who may not list destinations does without them', async () => {
    const cluster = await sharedCluster();
    const nobody = await connect({ kubeconfig: await cluster.kubeconfigFor('nobody') });
    try {
      assert.equal(await mayWatchDestinations(new KubeClient(nobody), system), false);
      assert.equal(await mayWatchDestinations(shop.kube, system), true);
    } finally {
      await nobody.close();
    }
  });

  test('a namespace with a database in Git can be deleted, and its folder goes too', async (t) => {
    const remote = givenRemote(t);
    const name = await givenDestination(t, 'namespaced', { url: remote.url });
    await shop.submit('last', inGit(name));
    await isInGit(remote, `clusters/prod/${shop.namespace}/last/statefulset.last.yaml`);
    const { code, stderr } = await shop.cluster.kubectlRun(['delete', 'namespace', shop.namespace, patience]);
    assert.equal(code, 0, stderr);
    await isGone(remote, `clusters/prod/${shop.namespace}/last/`);
  });
});
