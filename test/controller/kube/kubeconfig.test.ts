import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { connect, ConnectionError, type ConnectOptions } from '../../../controller/kube/index.ts';
import { createAuthority } from '../../cluster/certificates.ts';
import { kubeconfigFor } from './scripted-server.ts';
import { discardFolder } from '../../discard-folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'plumbline-kubeconfig-'));
after(() => discardFolder(folder));

const SERVER = 'https://127.0.0.1:1';
const SECRET = 'hunter2-token';
let files = 0;

async function write(content: string | object): Promise<string> {
  files += 1;
  const path = join(folder, `config-${files}`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** An environment in which nothing is found by chance. */
const NOWHERE = { HOME: join(folder, 'nobody') };

async function problemOf(options: ConnectOptions): Promise<ConnectionError> {
  try {
    const connection = await connect({ environment: NOWHERE, check: false, ...options });
    await connection.close();
  } catch (error) {
    assert.ok(error instanceof ConnectionError, String(error));
    assert.doesNotMatch(`${error.message} ${error.stack} ${JSON.stringify(error.cause)}`, /hunter2/);
    return error;
  }
  return assert.fail('it connected');
}

interface Row {
  readonly what: string;
  readonly options: () => Promise<ConnectOptions>;
  readonly problem: ConnectionError['problem'];
  readonly message: RegExp;
}

const authority = createAuthority('test');
const client = authority.issueClient({ commonName: 'alice' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const ROWS: readonly Row[] = [
  {
    what: 'no kubeconfig anywhere',
    options: async () => ({}),
    problem: 'kubeconfig-missing',
    message: /none was named, \$KUBECONFIG is not set, ~\/\.kube\/config does not exist, and this is no pod/,
  },
  {
    what: 'a path without a file',
    options: async () => ({ kubeconfig: join(folder, 'nothing') }),
    problem: 'kubeconfig-missing',
    message: /there is no kubeconfig at .*nothing/,
  },
  {
    what: 'a $KUBECONFIG without a file',
    options: async () => ({ environment: { ...NOWHERE, KUBECONFIG: join(folder, 'nothing') } }),
    problem: 'kubeconfig-missing',
    message: /there is no kubeconfig at .*nothing/,
  },
  {
    what: 'a folder',
    options: async () => ({ kubeconfig: folder }),
    problem: 'kubeconfig-unreadable',
    message: /cannot read the kubeconfig .* \(EISDIR\)/,
  },
  {
    what: 'a file that is not YAML',
    options: async () => ({ kubeconfig: await write(`users:\n- token: ${SECRET}\n  broken: [\n`) }),
    problem: 'kubeconfig-invalid',
    message: /is not a kubeconfig: it is not YAML \(.*line \d+\)/,
  },
  {
    what: 'an empty file',
    options: async () => ({ kubeconfig: await write('') }),
    problem: 'kubeconfig-invalid',
    message: /the input is empty/,
  },
  {
    what: 'another YAML file',
    options: async () => ({ kubeconfig: await write({ kind: 'Deployment', token: SECRET }) }),
    problem: 'kubeconfig-invalid',
    message: /has no list of clusters and contexts/,
  },
  {
    what: 'a cluster without a server',
    options: async () => ({
      kubeconfig: await write({ ...kubeconfigFor(SERVER), clusters: [{ name: 'test', cluster: {} }] }),
    }),
    problem: 'kubeconfig-invalid',
    message: /clusters\[0\]\.cluster\.server is missing/,
  },
  {
    what: 'a server that is no URL',
    options: async () => ({ kubeconfig: await write(kubeconfigFor('127.0.0.1')) }),
    problem: 'kubeconfig-invalid',
    message: /not an http or https URL/,
  },
  {
    what: 'a context that is not there',
    options: async () => ({ kubeconfig: await write(kubeconfigFor(SERVER)), context: 'production' }),
    problem: 'context-unknown',
    message: /has no context production\. Name one of: test/,
  },
  {
    what: 'no current context',
    options: async () => ({ kubeconfig: await write({ ...kubeconfigFor(SERVER), 'current-context': '' }) }),
    problem: 'context-unknown',
    message: /has no current context\. Name one of: test/,
  },
  {
    what: 'a context of a cluster that is not there',
    options: async () => ({ kubeconfig: await write({ ...kubeconfigFor(SERVER), clusters: [] }) }),
    problem: 'kubeconfig-invalid',
    message: /context test names the cluster test, which is not defined/,
  },
  {
    what: 'a context of a user that is not there',
    options: async () => ({ kubeconfig: await write({ ...kubeconfigFor(SERVER), users: [] }) }),
    problem: 'kubeconfig-invalid',
    message: /context test names the user test, which is not defined/,
  },
  {
    what: 'a client certificate that is no certificate',
    options: async () => ({
      kubeconfig: await write(
        kubeconfigFor(SERVER, { 'client-certificate-data': base64('rubbish'), 'client-key-data': base64(client.key) }),
      ),
    }),
    problem: 'certificate',
    message: /the client certificate or its key of kubeconfig .* can not be used/,
  },
  {
    what: 'a key of another certificate',
    options: async () => ({
      kubeconfig: await write(
        kubeconfigFor(SERVER, {
          'client-certificate-data': base64(client.certificate),
          'client-key-data': base64(authority.key),
        }),
      ),
    }),
    problem: 'certificate',
    message: /the client certificate or its key/,
  },
  {
    what: 'a certificate authority that is none',
    options: async () => ({
      kubeconfig: await write(kubeconfigFor(SERVER, {}, { 'certificate-authority-data': base64('rubbish') })),
    }),
    problem: 'certificate',
    message: /the certificate authority of kubeconfig/,
  },
  {
    what: 'a certificate file that is not there',
    options: async () => ({
      kubeconfig: await write(kubeconfigFor(SERVER, { 'client-certificate': 'gone.crt', 'client-key': 'gone.key' })),
    }),
    problem: 'credentials',
    message: /gone\.crt \(ENOENT\)/,
  },
  {
    what: 'a token file that is not there',
    options: async () => ({ kubeconfig: await write(kubeconfigFor(SERVER, { tokenFile: 'gone.token' })) }),
    problem: 'credentials',
    message: /gone\.token \(ENOENT\)/,
  },
  {
    what: 'a credential plugin that is not installed',
    options: async () => ({
      kubeconfig: await write(
        kubeconfigFor(SERVER, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' } }),
      ),
    }),
    problem: 'credentials',
    message: /the credential plugin no-such-plugin of kubeconfig .* failed: ENOENT/,
  },
  {
    what: 'a credential plugin that prints rubbish',
    options: async () => ({
      kubeconfig: await write(kubeconfigFor(SERVER, { exec: { apiVersion: 'v1', command: 'echo', args: [SECRET] } })),
    }),
    problem: 'credentials',
    message: /failed: it printed no ExecCredential/,
  },
  {
    what: 'a proxy of no known kind',
    options: async () => ({ kubeconfig: await write(kubeconfigFor(SERVER, {}, { 'proxy-url': 'ftp://127.0.0.1' })) }),
    problem: 'kubeconfig-invalid',
    message: /proxy-url of the cluster must start with http, https or socks5/,
  },
  {
    what: 'a pod that is none',
    options: async () => ({ inCluster: true, serviceAccountFolder: folder }),
    problem: 'not-in-cluster',
    message: /this is not a pod with a service account/,
  },
  {
    what: 'a server that does not listen',
    options: async () => ({ kubeconfig: await write(kubeconfigFor(SERVER)), check: true }),
    problem: 'unreachable',
    message: /cannot reach the API server at https:\/\/127\.0\.0\.1:1: nothing listens there \(ECONNREFUSED\)/,
  },
  {
    what: 'a host that does not exist',
    options: async () => ({ kubeconfig: await write(kubeconfigFor('https://no-such-host.invalid')), check: true }),
    problem: 'unreachable',
    message: /no-such-host\.invalid: the host name (is unknown|could not be resolved now)/,
  },
];

for (const { what, options, problem, message } of ROWS) {
  test(`${what}: one clear error`, async () => {
    const error = await problemOf(await options());
    assert.equal(error.problem, problem, error.message);
    assert.match(error.message, message);
  });
}

test('of several files the first to name a thing wins, and missing ones are skipped, as with kubectl', async () => {
  const first = await write({ clusters: [], contexts: [], users: [], 'current-context': 'second' });
  const second = await write({
    ...kubeconfigFor('https://second:1'),
    contexts: [{ name: 'second', context: { cluster: 'test', user: 'test' } }],
  });
  const third = await write({ ...kubeconfigFor('https://third:1'), 'current-context': 'other' });
  const KUBECONFIG = [first, join(folder, 'nothing'), second, third].join(delimiter);
  const connection = await connect({ environment: { ...NOWHERE, KUBECONFIG }, check: false });
  assert.equal(connection.server, 'https://second:1');
  await connection.close();
});

test('~/.kube/config is the last resort, and the context says the namespace', async () => {
  const home = join(folder, 'home');
  await mkdir(join(home, '.kube'), { recursive: true });
  await writeFile(join(home, '.kube', 'config'), JSON.stringify(kubeconfigFor('https://home:1/k8s/clusters/c-1/')));
  const connection = await connect({ environment: { HOME: home }, check: false });
  assert.equal(connection.server, 'https://home:1/k8s/clusters/c-1');
  assert.equal(connection.namespace, 'shop');
  assert.match(connection.source, /home\/\.kube\/config, context test$/);
  await connection.close();
});
