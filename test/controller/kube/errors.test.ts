import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classify, ConnectionError, isObjectMissing, KubeError, type Verdict } from '../../../controller/kube/index.ts';
import { errorFromResponse, type Tried } from '../../../controller/kube/kube-error.ts';

interface Row {
  readonly what: string;
  readonly status: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: object;
  readonly verb?: string;
  readonly kind?: string;
  readonly retryAfter?: string;
  readonly verdict: Verdict;
}

const CONFIG_MAP = { name: 'x', kind: 'configmaps' };
const retryNow = (kind: Extract<Verdict, { class: 'retry-now' }>['kind']): Verdict => ({ class: 'retry-now', kind });
const waitFor = (kind: Extract<Verdict, { class: 'wait-for' }>['kind']): Verdict => ({ class: 'wait-for', kind });
const terminal = (kind: Extract<Verdict, { class: 'terminal' }>['kind']): Verdict => ({ class: 'terminal', kind });
const backOff = (
  kind: Exclude<Extract<Verdict, { class: 'back-off' }>['kind'], 'field-conflict'>,
  retryAfterSeconds?: number,
): Verdict => ({ class: 'back-off', kind, retryAfterSeconds });

/** Answers as Kubernetes 1.36.3 gave them, but for those of webhooks, which are from its source. */
const ANSWERS: readonly Row[] = [
  {
    what: 'a field is owned by an applier, by kubectl edit and through a subresource',
    status: 409,
    reason: 'Conflict',
    message: 'Apply failed with 3 conflicts: …',
    details: {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: String.raw`conflict with "kubectl \"edit\"" using v1 at 2026-11-29T20:45:40Z`,
          field: '.data.l',
        },
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "hpa" with subresource "scale" using apps/v1',
          field: '.spec.replicas',
        },
        { reason: 'FieldManagerConflict', message: 'conflict with "argocd-controller"', field: '.data.k' },
      ],
    },
    verdict: {
      class: 'back-off',
      kind: 'field-conflict',
      rivals: [
        {
          manager: 'argocd-controller',
          subresource: undefined,
          apiVersion: undefined,
          time: undefined,
          operation: 'Apply',
          field: '.data.k',
        },
        {
          manager: 'kubectl "edit"',
          subresource: undefined,
          apiVersion: 'v1',
          time: '2026-11-29T20:45:40Z',
          operation: 'Update',
          field: '.data.l',
        },
        {
          manager: 'hpa',
          subresource: 'scale',
          apiVersion: 'apps/v1',
          time: undefined,
          operation: 'Update',
          field: '.spec.replicas',
        },
      ],
    },
  },
  {
    what: 'a resourceVersion that is outdated',
    status: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
    details: CONFIG_MAP,
    verdict: retryNow('version-conflict'),
  },
  {
    what: 'a delete with an outdated resourceVersion',
    status: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on ConfigMap "x": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (257). The object might have been modified',
    verdict: retryNow('version-conflict'),
  },
  {
    what: 'an apply with the uid of an object that is gone',
    status: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "gone": uid mismatch: the provided object specified uid 0, and no existing object was found',
    details: CONFIG_MAP,
    verdict: retryNow('object-gone'),
  },
  {
    what: 'an apply with the uid of another object of that name',
    status: 422,
    reason: 'Invalid',
    message: 'ConfigMap "x" is invalid: metadata.uid: Invalid value: "0": field is immutable',
    details: {
      causes: [
        { reason: 'FieldValueInvalid', message: 'Invalid value: "0": field is immutable', field: 'metadata.uid' },
      ],
    },
    verdict: retryNow('object-replaced'),
  },
  {
    what: 'a delete with the uid of another object of that name',
    status: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition (0) does not match the UID in record (1). The object might have been deleted and then recreated',
    verb: 'delete',
    verdict: retryNow('object-replaced'),
  },
  {
    what: 'a name that is taken',
    status: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "x" already exists',
    details: CONFIG_MAP,
    verb: 'create',
    verdict: backOff('already-exists'),
  },
  {
    what: 'a port whose number somebody edited, so that its name is there twice (kubernetes#131147)',
    status: 422,
    reason: 'Invalid',
    message: 'Service "v" is invalid: spec.ports[1].name: Duplicate value: "pg"',
    details: {
      causes: [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: "pg"', field: 'spec.ports[1].name' }],
    },
    verdict: backOff('co-ownership'),
  },
  {
    what: 'a volume whose kind of source somebody swapped',
    status: 422,
    reason: 'Invalid',
    message:
      'StatefulSet.apps "s" is invalid: spec.template.spec.volumes[0].emptyDir: Forbidden: may not specify more than 1 volume type',
    verdict: backOff('co-ownership'),
  },
  {
    what: "somebody else's request above our limit",
    status: 422,
    reason: 'Invalid',
    message:
      'StatefulSet.apps "s" is invalid: spec.template.spec.containers[0].resources.requests: Invalid value: "900Mi": must be less than or equal to memory limit of 500Mi',
    verdict: backOff('co-ownership'),
  },
  {
    what: 'the same in a new object, where nobody else can be the reason',
    status: 422,
    reason: 'Invalid',
    message: 'Service "v" is invalid: spec.ports[1].name: Duplicate value: "pg"',
    details: { causes: [{ reason: 'FieldValueDuplicate', field: 'spec.ports[1].name' }] },
    verb: 'create',
    verdict: terminal('invalid'),
  },
  {
    what: 'a field of a StatefulSet that can not change',
    status: 422,
    reason: 'Invalid',
    message:
      "StatefulSet.apps \"s\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' and 'minReadySeconds' are forbidden",
    verdict: terminal('immutable'),
  },
  {
    what: 'data of an immutable Secret',
    status: 422,
    reason: 'Invalid',
    message: 'Secret "se" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    kind: 'Secret',
    verdict: terminal('immutable'),
  },
  {
    what: 'a clusterIP',
    status: 422,
    reason: 'Invalid',
    message: 'Service "v" is invalid: spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
    verdict: terminal('immutable'),
  },
  {
    what: 'the role of a RoleBinding',
    status: 422,
    reason: 'Invalid',
    message:
      'RoleBinding.rbac.authorization.k8s.io "r" is invalid: roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"a"}: cannot change roleRef',
    verdict: terminal('immutable'),
  },
  {
    what: 'a value out of range',
    status: 422,
    reason: 'Invalid',
    message: 'StatefulSet.apps "s" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    verdict: terminal('invalid'),
  },
  {
    what: 'an unknown field in a POST',
    status: 400,
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nonsense"',
    verb: 'create',
    verdict: terminal('strict-decoding'),
  },
  {
    what: 'an unknown field in a merge patch',
    status: 422,
    reason: 'Invalid',
    message: ' "" is invalid: patch: Invalid value: "{}": strict decoding error: unknown field "nonsense"',
    verb: 'patch',
    verdict: terminal('strict-decoding'),
  },
  {
    what: 'an unknown field in an apply, which has no reason',
    status: 500,
    message: 'failed to create typed patch object (ns/y; /v1, Kind=ConfigMap): .nonsense: field not declared in schema',
    verdict: terminal('typed-patch'),
  },
  {
    what: 'a key that a list has twice',
    status: 500,
    message:
      'failed to create typed patch object (ns/s; apps/v1, Kind=StatefulSet): .spec.template.spec.containers: duplicate entries for key [name="c"]',
    verdict: terminal('typed-patch'),
  },
  {
    what: 'managedFields in an apply',
    status: 400,
    reason: 'BadRequest',
    message: 'metadata.managedFields must be nil',
    verdict: terminal('bad-request'),
  },
  {
    what: 'a webhook without dry-run',
    status: 400,
    reason: 'BadRequest',
    message: 'admission webhook "w.example" does not support dry run',
    verdict: terminal('dry-run-refused'),
  },
  {
    what: 'a webhook that refuses',
    status: 403,
    reason: 'Forbidden',
    message: 'admission webhook "w.example" denied the request: no',
    verdict: waitFor('admission-denied'),
  },
  {
    what: 'a webhook that refuses with a status of its own',
    status: 500,
    message: 'admission webhook "w.example" denied the request: no',
    verdict: waitFor('admission-denied'),
  },
  {
    what: 'a policy that refuses',
    status: 422,
    reason: 'Invalid',
    message:
      "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false",
    verdict: waitFor('admission-denied'),
  },
  {
    what: 'a webhook that does not answer',
    status: 500,
    reason: 'InternalError',
    message: 'Internal error occurred: failed calling webhook "w.example": failed to call webhook: connection refused',
    verdict: backOff('webhook-unavailable'),
  },
  {
    what: 'an object that is not there',
    status: 404,
    reason: 'NotFound',
    message: 'configmaps "nope" not found',
    details: { name: 'nope', kind: 'configmaps' },
    verdict: waitFor('object-missing'),
  },
  {
    what: 'a namespace that is not there',
    status: 404,
    reason: 'NotFound',
    message: 'namespaces "nope" not found',
    details: { name: 'nope', kind: 'namespaces' },
    verdict: waitFor('namespace-missing'),
  },
  {
    what: 'a namespace that was asked for itself',
    status: 404,
    reason: 'NotFound',
    message: 'namespaces "nope" not found',
    details: { name: 'nope', kind: 'namespaces' },
    kind: 'Namespace',
    verdict: waitFor('object-missing'),
  },
  {
    what: 'an API group that is not there',
    status: 404,
    message: '404 page not found',
    verdict: waitFor('kind-missing'),
  },
  {
    what: 'a resource that is not there in a group that is',
    status: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
    verdict: waitFor('kind-missing'),
  },
  {
    what: 'a right that is missing',
    status: 403,
    reason: 'Forbidden',
    message:
      'configmaps "x" is forbidden: User "nobody" cannot get resource "configmaps" in API group "" in the namespace "ns"',
    details: CONFIG_MAP,
    verdict: waitFor('forbidden'),
  },
  {
    what: 'a quota that is full',
    status: 403,
    reason: 'Forbidden',
    message:
      'configmaps "q" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=1',
    details: CONFIG_MAP,
    verdict: waitFor('quota-exceeded'),
  },
  {
    what: 'a namespace that is being deleted',
    status: 403,
    reason: 'Forbidden',
    message:
      'configmaps "late" is forbidden: unable to create new content in namespace ns because it is being terminated',
    details: {
      causes: [
        { reason: 'NamespaceTerminating', message: 'namespace ns is being terminated', field: 'metadata.namespace' },
      ],
    },
    verdict: waitFor('namespace-terminating'),
  },
  {
    what: 'no or old credentials',
    status: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
    verdict: backOff('unauthorized'),
  },
  {
    what: 'a version that is too old',
    status: 410,
    reason: 'Expired',
    message: 'The resourceVersion for the provided list is too old.',
    verdict: retryNow('expired'),
  },
  {
    what: 'an object that is too large',
    status: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
    verdict: terminal('too-large'),
  },
  {
    what: 'a verb that the resource has not',
    status: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    verdict: terminal('unsupported'),
  },
  {
    what: 'too many requests',
    status: 429,
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later.',
    retryAfter: '7',
    verdict: backOff('throttled', 7),
  },
  {
    what: 'an eviction against a disruption budget',
    status: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget pdb needs 2 healthy pods and has 2 currently' },
      ],
    },
    verdict: waitFor('disruption-budget'),
  },
  {
    what: 'a server that starts',
    status: 503,
    reason: 'ServiceUnavailable',
    message: 'apiserver not ready',
    details: { retryAfterSeconds: 1 },
    verdict: backOff('unavailable', 1),
  },
  {
    what: 'a proxy without a server',
    status: 502,
    message: '<html>Bad Gateway</html>',
    verdict: backOff('unavailable'),
  },
  {
    what: 'etcd that does not answer',
    status: 504,
    reason: 'Timeout',
    message: 'Timeout: request did not complete',
    verdict: backOff('unavailable'),
  },
  {
    what: 'any other trouble of the server',
    status: 500,
    reason: 'InternalError',
    message: 'etcdserver: leader changed',
    verdict: backOff('server-error'),
  },
  { what: 'a status of no meaning here', status: 418, message: 'teapot', verdict: terminal('bad-request') },
];

for (const row of ANSWERS) {
  test(`${row.what}: ${row.status} is ${row.verdict.class}, ${row.verdict.kind}`, () => {
    assert.deepEqual(classify(errorOf(row)), row.verdict);
  });
}

test('what was thrown without an answer is classed too', () => {
  const tried: Tried = { verb: 'apply', kind: 'StatefulSet', object: 'shop/orders' };
  const rows: readonly (readonly [unknown, Verdict])[] = [
    [new KubeError({ tried, reason: 'ClientTimeout', message: 'no answer within 30 s' }), backOff('timeout')],
    [new KubeError({ tried, reason: 'NetworkError', message: 'other side closed' }), backOff('network')],
    [new KubeError({ tried, reason: 'WatchBroken', message: 'other side closed' }), backOff('watch-broken')],
    [new KubeError({ tried, reason: 'MalformedResponse', message: 'not a list' }), backOff('malformed-response')],
    [
      new KubeError({ tried, reason: 'NotLeading', message: 'nothing was asked' }),
      { class: 'retry-now', kind: 'not-leading' },
    ],
    [new ConnectionError('unreachable', 'nothing listens there'), backOff('network')],
    [AbortSignal.abort().reason, terminal('aborted')],
    [new TypeError('a bug'), backOff('unknown')],
    ['a string', backOff('unknown')],
  ];
  for (const [error, verdict] of rows) {
    const { retryAfterSeconds: _, ...rest } = { retryAfterSeconds: undefined, ...classify(error) };
    const { retryAfterSeconds: __, ...expected } = { retryAfterSeconds: undefined, ...verdict };
    assert.deepEqual(rest, expected, String(error));
  }
});

test('a missing object is told from a missing namespace or kind', () => {
  const missing = ANSWERS.filter((row) => row.status === 404).map((row) => isObjectMissing(errorOf(row)));
  assert.deepEqual(missing, [true, false, true, false, false]);
});

test('the message says what was tried, on which object, and what the server said', () => {
  const error = errorOf({ ...row(404), message: 'configmaps "nope" not found', reason: 'NotFound' });
  assert.equal(error.message, 'apply ConfigMap shop/x: 404 NotFound: configmaps "nope" not found');
  assert.equal(error.serverMessage, 'configmaps "nope" not found');
});

test('Retry-After is read as seconds, as a date and from the Status', () => {
  const rows: readonly (readonly [string | undefined, object, number | undefined])[] = [
    ['12', {}, 12],
    ['Sun, 29 Nov 2026 20:00:05 GMT', {}, 5],
    ['Sun, 29 Nov 2026 19:00:00 GMT', {}, 0],
    ['soon', { retryAfterSeconds: 3 }, 3],
    [undefined, { retryAfterSeconds: 3 }, 3],
    [undefined, {}, undefined],
  ];
  for (const [header, details, expected] of rows) {
    const body = { kind: 'Status', reason: 'TooManyRequests', message: 'later', details };
    const error = errorFromResponse(tried(), 429, body, header, Date.UTC(2026, 10, 29, 20, 0, 0));
    assert.equal(error.retryAfterSeconds, expected, String(header));
  }
});

test('a value that the server repeats is hidden if it is long, and always if it is of a Secret', () => {
  const stored = JSON.stringify({ kind: 'Secret', data: { password: 'aHVudGVyMg==' }, filler: 'x'.repeat(200) });
  const message = ` "" is invalid: patch: Invalid value: ${JSON.stringify(stored)}: strict decoding error: unknown field "nonsense"`;
  const cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(stored)}: strict`,
    field: 'patch',
  };
  for (const kind of ['Secret', 'ConfigMap']) {
    const error = errorOf({ ...row(422), kind, message, details: { causes: [cause] } });
    assert.doesNotMatch(JSON.stringify([error.message, error.details, error.stack]), /aHVudGVyMg/);
    assert.match(error.message, /Invalid value: \(hidden\): strict decoding error: unknown field "nonsense"/);
    assert.equal(classify(error).kind, 'strict-decoding');
  }
  const short =
    'Secret "s" is invalid: data[p]: Invalid value: "hunter2": must be base64, type: Unsupported value: hunter3';
  assert.doesNotMatch(errorOf({ ...row(422), kind: 'Secret', message: short }).message, /hunter/);
  assert.match(errorOf({ ...row(422), message: short }).message, /hunter2/);
});

function tried(kind = 'ConfigMap', verb = 'apply'): Tried {
  return { verb, kind, object: 'shop/x' };
}

function row(status: number): Row {
  return { what: '', status, message: '', verdict: terminal('invalid') };
}

function errorOf({ verb, kind, status, reason, message, details, retryAfter }: Row): KubeError {
  const isStatus = reason !== undefined || details !== undefined || status === 500;
  const body = isStatus ? { kind: 'Status', reason, message, details, code: status } : message;
  return errorFromResponse(tried(kind, verb), status, body, retryAfter, Date.now());
}
