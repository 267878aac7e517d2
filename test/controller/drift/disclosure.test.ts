import assert from 'node:assert/strict';
import test from 'node:test';
import { disclosed } from '../../../controller/drift/disclosure.ts';

const container = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"postgres"}'];
const volume = ['f:spec', 'f:template', 'f:spec', 'f:volumes', 'k:{"name":"src"}'];
const secret = 'hunter2';

const hidden: readonly (readonly [what: string, kind: string, path: readonly string[], value?: unknown])[] = [
  ['the value of a variable', 'StatefulSet', [...container, 'f:env', 'k:{"name":"PGPASSWORD"}', 'f:value']],
  ['a whole variable', 'StatefulSet', [...container, 'f:env', 'k:{"name":"P"}'], { name: 'P', value: secret }],
  ['where variables come from', 'StatefulSet', [...container, 'f:envFrom'], [{ prefix: secret }]],
  ['arguments', 'StatefulSet', [...container, 'f:args'], [`--password=${secret}`]],
  ['a command', 'CronJob', [...container, 'f:command'], ['sh', '-c', secret]],
  ['the command of a probe', 'StatefulSet', [...container, 'f:livenessProbe', 'f:exec', 'f:command'], [secret]],
  ['headers of a probe', 'StatefulSet', [...container, 'f:livenessProbe', 'f:httpGet', 'f:httpHeaders'], [secret]],
  ['the path of a probe', 'StatefulSet', [...container, 'f:livenessProbe', 'f:httpGet', 'f:path'], `/?token=${secret}`],
  ['a probe with a path', 'StatefulSet', [...container, 'f:startupProbe'], { httpGet: { path: secret, port: 1 } }],
  ['a call with a path', 'StatefulSet', [...container, 'f:readinessProbe', 'f:httpGet'], { path: secret, port: 1 }],
  ['a hook', 'StatefulSet', [...container, 'f:lifecycle'], { postStart: { httpGet: { path: secret, port: 1 } } }],
  ['the host of a hook', 'StatefulSet', [...container, 'f:lifecycle', 'f:preStop', 'f:tcpSocket', 'f:host']],
  ['the service of a probe', 'StatefulSet', [...container, 'f:livenessProbe', 'f:grpc', 'f:service']],
  [
    'the repository of a volume',
    'StatefulSet',
    [...volume, 'f:gitRepo', 'f:repository'],
    `https://git.example/${secret}`,
  ],
  ['a volume with a repository', 'StatefulSet', volume, { name: 'src', gitRepo: { repository: secret } }],
  ['an address with a password', 'StatefulSet', [...container, 'f:workingDir'], `https://bot:${secret}@git.example/x`],
  ['an address with a token', 'Service', ['f:spec', 'f:externalName'], `see https://${secret}@git.example for more`],
  ['a password with a mark in it', 'StatefulSet', [...container, 'f:image'], `ftp://bot:a@b?c#"${secret}@registry/pg`],
  ['a list with such an address', 'StatefulSet', [...container, 'f:x'], [{ to: `postgres://a:${secret}@db/orders` }]],
  ['data of a ConfigMap', 'ConfigMap', ['f:data', 'f:member.json']],
  ['binary data of a ConfigMap', 'ConfigMap', ['f:binaryData', 'f:blob']],
  ['an annotation', 'Service', ['f:metadata', 'f:annotations', 'f:note']],
  ['an annotation of a pod template', 'StatefulSet', ['f:spec', 'f:template', 'f:metadata', 'f:annotations', 'f:n']],
  ['anything of a Secret', 'Secret', ['f:metadata', 'f:labels', 'f:a']],
  ['data of a Secret', 'Secret', ['f:data', 'f:password']],
  ['a container that holds variables', 'StatefulSet', container, { name: 'a', env: [{ name: 'P', value: secret }] }],
  [
    'a template that holds annotations',
    'StatefulSet',
    ['f:spec', 'f:template'],
    { metadata: { annotations: { a: secret } } },
  ],
  ['a probe that holds a command', 'StatefulSet', [...container, 'f:livenessProbe'], { exec: { command: [secret] } }],
];

for (const [what, kind, path, value = secret] of hidden) {
  test(`${what} is never shown`, () => assert.equal(disclosed(kind, path)(value), '(hidden)'));
}

const shown: readonly (readonly [what: string, path: readonly string[], value: unknown, text: string | undefined])[] = [
  ['an image', [...container, 'f:image'], 'pg:17', 'pg:17'],
  ['the port of a probe', [...container, 'f:livenessProbe', 'f:httpGet', 'f:port'], 8008, '8008'],
  ['a path that is none of a probe', ['f:spec', 'f:volumes', 'k:{"name":"a"}', 'f:hostPath', 'f:path'], '/', '/'],
  ['an address without a user', [...container, 'f:x'], 'https://git.example/x@1', 'https://git.example/x@1'],
  ['an image by its digest', [...container, 'f:image'], 'registry:5000/pg@sha256:ab', 'registry:5000/pg@sha256:ab'],
  ['a number', ['f:spec', 'f:replicas'], 3, '3'],
  ['a map', ['f:spec', 'f:selector'], { app: 'a' }, '{"app":"a"}'],
  ['a label', ['f:metadata', 'f:labels', 'f:a'], 'b', 'b'],
  [
    'a field of an item whose key looks like a hidden one',
    ['f:spec', 'f:volumes', 'k:{"name":"data"}', 'f:x'],
    'y',
    'y',
  ],
  ['what is not there', ['f:spec', 'f:replicas'], undefined, undefined],
  ['a long value is cut', ['f:spec', 'f:x'], 'a'.repeat(300), `${'a'.repeat(256)}…`],
];

for (const [what, path, value, text] of shown) {
  test(`${what} is shown`, () => assert.equal(disclosed('StatefulSet', path)(value), text));
}
