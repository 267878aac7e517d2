import assert from 'node:assert/strict';
import test from 'node:test';
import { CommanderError } from 'commander';
import { parseOptions, type ControllerOptions } from '../../controller/options.ts';

interface Parsed {
  readonly options: ControllerOptions | undefined;
  readonly exitCode: number | undefined;
  readonly out: string;
  readonly err: string;
}

function parse(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): Parsed {
  let [out, err] = ['', ''];
  const output = { writeOut: (text: string) => void (out += text), writeErr: (text: string) => void (err += text) };
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return { options: parseOptions(argv, output), exitCode: undefined, out, err };
  } catch (error) {
    assert(error instanceof CommanderError);
    return { options: undefined, exitCode: error.exitCode, out, err };
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

const defaults = {
  workers: 8,
  leaseNamespace: 'default',
  leaseName: 'plumbline-controller',
  logLevel: 'info',
  metricsAuth: 'tokens',
  gitBranch: 'main',
  clusterName: 'default',
};

const right: readonly (readonly [what: string, argv: readonly string[], variables: object, expected: object])[] = [
  ['nothing said', [], {}, {}],
  ['a flag', ['--namespace', 'shop'], {}, { namespace: ['shop'] }],
  ['several namespaces', [], { PLUMBLINE_NAMESPACE: 'shop, finance,shop' }, { namespace: ['shop', 'finance'] }],
  ['a flag with an equals sign', ['--workers=3'], {}, { workers: 3 }],
  ['a variable', [], { PLUMBLINE_WORKERS: '5', PLUMBLINE_CONTEXT: 'kind' }, { workers: 5, context: 'kind' }],
  ['a flag over a variable', ['--workers', '2'], { PLUMBLINE_WORKERS: '5' }, { workers: 2 }],
  ['an empty variable counts as not set', [], { PLUMBLINE_NAMESPACE: '', PLUMBLINE_WORKERS: '' }, {}],
  [
    'addresses',
    ['--metrics-address', ':8443', '--health-address', '[::1]:8081'],
    {},
    { metricsAddress: { host: undefined, port: 8443 }, healthAddress: { host: '::1', port: 8081 } },
  ],
  [
    'addresses by variables; 0 is nowhere, as in other controllers',
    [],
    {
      PLUMBLINE_METRICS_ADDRESS: '0',
      PLUMBLINE_HEALTH_ADDRESS: '127.0.0.1:0',
      PLUMBLINE_METRICS_AUTH: 'none',
    },
    { healthAddress: { host: '127.0.0.1', port: 0 }, metricsAuth: 'none' },
  ],
  [
    'variables that Kubernetes makes of a Service named plumbline',
    [],
    { PLUMBLINE_PORT: 'tcp://10.0.0.1:80', PLUMBLINE_SERVICE_HOST: '10.0.0.1', PLUMBLINE_PORT_80_TCP_PROTO: 'tcp' },
    {},
  ],
  [
    'everything',
    '--kubeconfig k --context c --namespace n --workers 64 --lease-namespace l --lease-name m --log-level debug --metrics-address h:1 --metrics-auth none --metrics-cert-file x --metrics-key-file y --health-address h:2 --git-url u --git-branch b --cluster-name eu.1'.split(
      ' ',
    ),
    {},
    {
      kubeconfig: 'k',
      context: 'c',
      namespace: ['n'],
      workers: 64,
      leaseNamespace: 'l',
      leaseName: 'm',
      logLevel: 'debug',
      metricsAddress: { host: 'h', port: 1 },
      metricsAuth: 'none',
      metricsCertFile: 'x',
      metricsKeyFile: 'y',
      healthAddress: { host: 'h', port: 2 },
      gitUrl: 'u',
      gitBranch: 'b',
      clusterName: 'eu.1',
    },
  ],
];

for (const [what, argv, variables, expected] of right) {
  test(`options: ${what}`, () => {
    const { options, err } = parse(argv, variables as Record<string, string>);
    const set = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
    assert.deepEqual(Object.fromEntries(set), { ...defaults, ...expected });
    assert.equal(err, '');
  });
}

const wrong: readonly (readonly [argv: readonly string[], variables: object, words: readonly string[]])[] = [
  [['--foo'], {}, ['--foo']],
  [['--namspace', 'x'], {}, ['--namspace', '--namespace']],
  [['--namespace'], {}, ['--namespace', 'missing']],
  [['--namespace', 'Shop'], {}, ['--namespace', 'Shop', 'a-z']],
  [['--namespace', 'a/b'], {}, ['a/b']],
  [['--workers', '0'], {}, ['--workers', "'0'", 'from 1 to 64']],
  [['--workers', '1.5'], {}, ["'1.5'"]],
  [['--workers', '65'], {}, ["'65'"]],
  [['--log-level', 'loud'], {}, ['loud', 'debug, info, warn, error']],
  [['--cluster-name', '../x'], {}, ['../x', 'folder']],
  [['--metrics-address', '8443'], {}, ['8443', 'host:port']],
  [['--health-address', '::1:8081'], {}, ['::1:8081', 'host:port']],
  [['--health-address', 'localhost:70000'], {}, ['localhost:70000']],
  [['--metrics-auth', 'basic'], {}, ['basic', 'tokens or none']],
  [['--metrics-cert-file', 'tls.crt'], {}, ['--metrics-cert-file', '--metrics-key-file']],
  [['start'], {}, ['start']],
  [[], { PLUMBLINE_WORKERS: 'many' }, ['PLUMBLINE_WORKERS', 'many', 'from 1 to 64']],
];

for (const [argv, variables, words] of wrong) {
  test(`wrong usage is told in one line: ${[...argv, ...Object.values(variables)].join(' ')}`, () => {
    const { exitCode, err, out } = parse(argv, variables as Record<string, string>);
    assert.equal(exitCode, 1);
    assert.match(err, /^error: .*\n$/);
    assert.equal(err.trim().split('\n').length, 1);
    for (const word of words) assert(err.includes(word), `${word} in: ${err}`);
    assert.equal(out, '');
  });
}

test('--help names every flag with its variable, the defaults and the exit codes', () => {
  const { exitCode, out, err } = parse(['--help']);
  assert.deepEqual([exitCode, err], [0, '']);
  const text = out.replaceAll(/\s+/g, ' ');
  for (const flag of text.match(/--[a-z][a-z-]+ </g) ?? []) {
    const variable = `PLUMBLINE_${flag.slice(2, -2).toUpperCase().replaceAll('-', '_')}`;
    assert(text.includes(variable), variable);
  }
  for (const words of ['default: 8', 'Exit codes: 0', '2 wrong usage']) assert(text.includes(words), words);
});
