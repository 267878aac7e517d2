import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { connect, ConnectionError, KubeClient, type Connection } from '../../../controller/kube/index.ts';
import { createAuthority } from '../../cluster/certificates.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { answer, kubeconfigFor, ScriptedServer, withClient, type Script } from './scripted-server.ts';
import { mountServiceAccount } from './service-account-folder.ts';

const authority = createAuthority('cluster');
/** `issueServer` writes an address byte by byte, so this is `::1`. */
const IPV6_LOOPBACK = '0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1';
const server = authority.issueServer({ commonName: 'api' }, ['api.test'], ['127.0.0.1', IPV6_LOOPBACK]);
const TLS = { cert: server.certificate, key: server.key };
const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
const CA = { 'certificate-authority-data': base64(authority.certificate) };

const VERSION: Script = (_, response) => answer(response, 200, { gitVersion: 'v1.36.3' });

async function statusOf(connection: Connection, path = '/version'): Promise<number> {
  const { status, body } = await connection.request({ method: 'GET', path });
  await text(body);
  return status;
}

async function connectTo(
  to: ScriptedServer,
  user: object = {},
  cluster: object = CA,
  clock?: VirtualClock,
): Promise<Connection> {
  return connect({ kubeconfig: await to.kubeconfig(user, cluster), clock });
}

test('a server whose certificate is not trusted, or for another name, is not connected to', async () => {
  await using api = await ScriptedServer.start(VERSION, '127.0.0.1', TLS);
  const other = { 'certificate-authority-data': base64(createAuthority('other').certificate) };
  const rows: readonly (readonly [object, RegExp])[] = [
    [
      other,
      /certificate of https:\/\/127\.0\.0\.1:\d+ is not trusted \(\w+\)\. Check the certificate authority of kubeconfig/,
    ],
    [{}, /is not trusted/],
    [{ ...CA, 'tls-server-name': 'elsewhere.test' }, /is for other names.*tls-server-name/],
  ];
  for (const [cluster, message] of rows) {
    await assert.rejects(connectTo(api, {}, cluster), (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.problem, 'certificate');
      assert.match(error.message, message);
      return true;
    });
  }
  assert.equal(api.requests.length, 0);
  for (const cluster of [CA, { ...CA, 'tls-server-name': 'api.test' }, { 'insecure-skip-tls-verify': true }]) {
    await (await connectTo(api, {}, cluster)).close();
  }
});

test('an https address of a server that speaks http is told as such', async () => {
  await using api = await ScriptedServer.start(VERSION);
  const kubeconfig = join(api.folder, 'tls');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(api.url.replace('http:', 'https:'))));
  await assert.rejects(connect({ kubeconfig }), /does not speak TLS .*whether the address should begin with http:/);
});

test('after a rotation of certificates an open watch goes on, and closing ends it with all others', async () => {
  const watch: Script = ({ url }, response) => {
    if (url.searchParams.has('watch')) response.write('\n');
    else answer(response, 200, {});
  };
  await using api = await ScriptedServer.start(watch, '127.0.0.1', TLS);
  const clock = new VirtualClock();
  await writeFile(join(api.folder, 'ca'), authority.certificate);
  const connection = await connectTo(api, {}, { 'certificate-authority': 'ca' }, clock);
  const kube = new KubeClient(connection);
  const type = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
  let isOver = false;
  const open = kube
    .watch(type, { resourceVersion: '1', timeoutSeconds: 300 })
    .next()
    .catch(() => (isOver = true));
  while (api.requests.length < 2) await sleep(1);
  await writeFile(join(api.folder, 'ca'), `${authority.certificate}\n${createAuthority('next').certificate}`);
  await clock.advance(60_000);
  assert.equal(await statusOf(connection), 200);
  assert.equal(api.connections, 3, 'new certificates, new connection');
  assert.equal(isOver, false);
  await connection.close();
  await open;
  assert.equal(isOver, true);
});

test('refused credentials are one clear error at the start', async () => {
  await using api = await ScriptedServer.start((_, response) => answer(response, 401, {}), '127.0.0.1', TLS);
  await assert.rejects(connectTo(api, { token: 'hunter2' }), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.problem, 'credentials');
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
});

test('token, basic, impersonation and client certificate reach the server', async () => {
  await using api = await ScriptedServer.start(VERSION, '127.0.0.1', TLS);
  const rows: readonly (readonly [object, string, string])[] = [
    [{ token: 'abc' }, 'authorization', 'Bearer abc'],
    [{ username: 'alice', password: 'pw' }, 'authorization', `Basic ${base64('alice:pw')}`],
    [{ token: 'abc', as: 'bob' }, 'impersonate-user', 'bob'],
  ];
  for (const [user, header, value] of rows) {
    await (await connectTo(api, user)).close();
    assert.equal(api.requests.at(-1)?.headers[header], value);
  }
});

test('a client certificate reaches the server', async () => {
  const seen: unknown[] = [];
  const mutual = createTlsServer({ ...TLS, ca: authority.certificate, requestCert: true }, ({ socket }, response) => {
    seen.push(socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined);
    response.end('{}');
  });
  await new Promise<void>((resolve) => mutual.listen(0, '127.0.0.1', resolve));
  await using api = await ScriptedServer.start(VERSION);
  const alice = authority.issueClient({ commonName: 'alice' });
  const user = { 'client-certificate-data': base64(alice.certificate), 'client-key-data': base64(alice.key) };
  const { port } = mutual.address() as AddressInfo;
  const kubeconfig = join(api.folder, 'mutual');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(`https://127.0.0.1:${port}`, user, CA)));
  await (await connect({ kubeconfig })).close();
  assert.deepEqual(seen, ['alice']);
  await new Promise((resolve) => mutual.close(resolve));
});

test('over plain http no credentials are sent', async () => {
  await using api = await ScriptedServer.start(VERSION);
  const connection = await connectTo(api, { token: 'abc' }, {});
  assert.equal(api.requests[0]?.headers.authorization, undefined);
  await connection.close();
});

test('a path of the server address stands before each path', async () => {
  await using api = await ScriptedServer.start(VERSION);
  const kubeconfig = join(api.folder, 'prefixed');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(`${api.url}/k8s/clusters/c-1/`)));
  const connection = await connect({ kubeconfig });
  assert.equal(api.requests[0]?.url.pathname, '/k8s/clusters/c-1/version');
  await connection.close();
});

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

test(
  'a bare IPv6 address of the cluster gets its brackets, with certificate checks on (client-node#599)',
  { skip: !hasIPv6 },
  async () => {
    await using api = await ScriptedServer.start(VERSION, '::1', TLS);
    const folder = join(api.folder, 'account');
    await mountServiceAccount(folder, { token: 'abc', 'ca.crt': authority.certificate, namespace: 'plumbline-system' });
    const environment = { KUBERNETES_SERVICE_HOST: '::1', KUBERNETES_SERVICE_PORT: new URL(api.url).port };
    const connection = await connect({ inCluster: true, serviceAccountFolder: folder, environment });
    assert.equal(connection.server, api.url);
    assert.equal(connection.namespace, 'plumbline-system');
    assert.equal(api.requests[0]?.headers.authorization, 'Bearer abc');
    await connection.close();
  },
);

test('without a kubeconfig a pod uses its service account', async () => {
  await using api = await ScriptedServer.start(VERSION, '127.0.0.1', TLS);
  const folder = join(api.folder, 'account');
  await mountServiceAccount(folder, { token: 'abc', 'ca.crt': authority.certificate });
  const environment = {
    HOME: api.folder,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: new URL(api.url).port,
  };
  const connection = await connect({ serviceAccountFolder: folder, environment });
  assert.equal(connection.source, 'the service account of this pod');
  await connection.close();
});

test('a rotated token is used at once after a 401, and within a minute without one (client-node#1240)', async () => {
  let valid = 'first';
  const byToken: Script = ({ headers }, response) =>
    answer(response, headers.authorization === `Bearer ${valid}` ? 200 : 401, {});
  await using api = await ScriptedServer.start(byToken, '127.0.0.1', TLS);
  const folder = join(api.folder, 'account');
  const files = { token: 'first\n', 'ca.crt': authority.certificate };
  await mountServiceAccount(folder, files);
  const clock = new VirtualClock();
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(api.url).port };
  const connection = await connect({ inCluster: true, serviceAccountFolder: folder, environment, clock });

  await mountServiceAccount(folder, { ...files, token: 'second' });
  valid = 'second';
  assert.equal(await statusOf(connection), 200);
  assert.deepEqual(authorizations(api).slice(-2), ['Bearer first', 'Bearer second']);

  await mountServiceAccount(folder, { ...files, token: 'third' });
  await clock.advance(60_000);
  assert.equal(await statusOf(connection), 401, 'the server is not told of the third token yet');
  assert.deepEqual(
    authorizations(api).slice(-2),
    ['Bearer third', 'Bearer third'],
    'it was sent without waiting for a 401',
  );

  const before = api.requests.length;
  valid = 'nobody knows';
  assert.equal(await statusOf(connection), 401);
  assert.equal(api.requests.length - before, 2, 'one more try, then the 401 is the answer');
  await connection.close();
});

test('many requests refused together read the token once more each and all succeed', async () => {
  let valid = 'first';
  const byToken: Script = ({ headers }, response) =>
    answer(response, headers.authorization === `Bearer ${valid}` ? 200 : 401, {});
  await using api = await ScriptedServer.start(byToken, '127.0.0.1', TLS);
  await writeFile(join(api.folder, 'token'), 'first');
  const connection = await connectTo(api, { tokenFile: 'token', token: 'not this one' });
  await writeFile(join(api.folder, 'token'), 'second');
  valid = 'second';
  const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(connection)));
  assert.deepEqual(new Set(statuses), new Set([200]));
  await connection.close();
});

test('a new certificate authority is taken from its file as soon as the old one does not fit', async () => {
  const next = createAuthority('next');
  await using old = await ScriptedServer.start(VERSION, '127.0.0.1', TLS);
  const folder = join(old.folder, 'account');
  await mountServiceAccount(folder, { token: 'abc', 'ca.crt': authority.certificate });
  const port = Number(new URL(old.url).port);
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) };
  const connection = await connect({
    inCluster: true,
    serviceAccountFolder: folder,
    environment,
    clock: new VirtualClock(),
  });

  await mountServiceAccount(folder, { token: 'abc', 'ca.crt': next.certificate });
  await old.stopListening();
  const issued = next.issueServer({ commonName: 'api' }, [], ['127.0.0.1']);
  await using renewed = await ScriptedServer.start(
    VERSION,
    '127.0.0.1',
    { cert: issued.certificate, key: issued.key },
    port,
  );
  await assert.rejects(
    statusOf(connection),
    (error) => error instanceof ConnectionError && error.problem === 'certificate',
  );
  assert.equal(await statusOf(connection), 200);
  assert.equal(renewed.requests.length, 1);
  await connection.close();
});

test('a credential plugin is asked once for many requests, and again after a 401', async () => {
  let valid = 'token-1';
  const byToken: Script = ({ headers }, response) =>
    answer(response, headers.authorization === `Bearer ${valid}` ? 200 : 401, {});
  await using api = await ScriptedServer.start(byToken, '127.0.0.1', TLS);
  const counter = join(api.folder, 'count');
  const program = `
    const fs = require('fs');
    fs.appendFileSync(${JSON.stringify(counter)}, 'x');
    const token = 'token-' + fs.readFileSync(${JSON.stringify(counter)}).length;
    console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }));`;
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', program] };
  const kubeconfig = await api.kubeconfig({ exec }, CA);
  const connection = await connect({ kubeconfig, check: false });
  const first = await Promise.all(Array.from({ length: 5 }, () => statusOf(connection)));
  assert.deepEqual(new Set(first), new Set([200]));
  assert.deepEqual(new Set(authorizations(api)), new Set(['Bearer token-1']));
  valid = 'token-2';
  assert.equal(await statusOf(connection), 200);
  await connection.close();
});

test('connections are kept: 200 requests, 16 at a time, open few', async () => {
  await withClient(VERSION, async (kube, api) => {
    for (let round = 0; round < 13; round += 1) {
      await Promise.all(Array.from({ length: 16 }, () => kube.raw('/version')));
    }
    assert.ok(api.connections <= 32, `${api.connections} connections`);
    assert.ok(api.requests.length >= 200);
  });
});

test('watches and stuck requests do not keep the lease from its server', async () => {
  const stuck: Script = ({ url }, response) => {
    if (url.searchParams.has('watch')) response.write('\n');
    else if (url.pathname.includes('/leases/')) answer(response, 200, { metadata: { name: 'x' } });
  };
  await using api = await ScriptedServer.start(stuck);
  const connection = await api.connect();
  const stop = new AbortController();
  const kube = new KubeClient(connection);
  const type = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
  const pending = Array.from({ length: 100 }, (_, at) => [
    kube.get(type, { namespace: 'a', name: `c${at}` }, { signal: stop.signal }),
    kube.watch(type, { resourceVersion: '1', timeoutSeconds: 300, signal: stop.signal }).next(),
  ]).flat();
  const leases = new KubeClient(connection, { lane: 'lease', timeoutMs: 10_000 });
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true };
  assert.equal((await leases.get(lease, { namespace: 'a', name: 'x' })).kind, 'Lease');
  stop.abort();
  await Promise.allSettled(pending);
  await connection.close();
});

function authorizations(api: ScriptedServer): (string | undefined)[] {
  return api.requests.map(({ headers }) => headers.authorization);
}
