import assert from 'node:assert/strict';
import test from 'node:test';
import { foreignFields, heldByOthers, readable } from '../../../controller/drift/index.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { applied, changed, disowned, entryOf, ours, stated, treeOf } from './live.ts';

const noon = '2026-01-01T12:00:00Z';
const pod = ['f:spec', 'f:template', 'f:spec'];
const postgres = [...pod, 'f:containers', 'k:{"name":"postgres"}'];
const container = ['spec', 'template', 'spec', 'containers'];
const whole = { '.': {}, 'f:name': {}, 'f:image': {}, 'f:imagePullPolicy': {} };

/** Our object, in which `manager` has written what the steps lead to. */
function written(
  object: KubeObject,
  fields: object,
  more: { subresource?: string; manager?: string } = {},
): KubeObject {
  const { manager = 'kubectl-patch', subresource } = more;
  const entry = entryOf(manager, 'Update', fields as Record<string, unknown>, noon, subresource);
  const [own] = (object.metadata.managedFields === undefined ? applied() : object).metadata.managedFields ?? [];
  assert(own);
  return { ...object, metadata: { ...object.metadata, managedFields: [own, entry] } };
}

interface Row {
  readonly what: string;
  readonly live: KubeObject;
  /** `field = value by manager`. */
  readonly expected: readonly string[];
}

const below = (steps: readonly string[], fields: object) =>
  steps.reduceRight<object>((tree, step) => ({ [step]: tree }), fields);
const spy = changed(applied(), [...container, 1], { name: 'spy', image: 'spy:1', imagePullPolicy: 'Always' });

const account: KubeObject = changed(
  applied({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'orders' },
    automountServiceAccountToken: false,
  }),
  ['metadata', 'annotations'],
  { 'eks.amazonaws.com/role-arn': 'arn:x', 'argocd.argoproj.io/tracking-id': 'orders' },
);
const configuration: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'orders' },
  data: { 'member.json': '{}' },
};

const backups: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'orders-backup', labels: { 'plumbline.dev/database': 'orders' } },
  spec: { resources: { requests: { storage: '1Gi' } } },
};
/** A claim as the StatefulSet controller makes it, of which we state the label alone. */
const dataClaim: KubeObject = { ...backups, spec: undefined };
const ownedClaim = (claim: KubeObject): KubeObject =>
  changed(applied(claim), ['metadata', 'ownerReferences'], [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u2' }]);
const owner = { 'f:metadata': { 'f:ownerReferences': { '.': {}, 'k:{"uid":"u2"}': {} } } };

const rows: readonly Row[] = [
  { what: 'an object as we applied it', live: applied(), expected: [] },
  {
    what: 'a container is one addition',
    live: written(spy, below([...pod, 'f:containers', 'k:{"name":"spy"}'], whole)),
    expected: [
      'spec.template.spec.containers[name=spy] = {"name":"spy","image":"spy:1","imagePullPolicy":"Always"} by kubectl-patch',
    ],
  },
  {
    what: 'a variable, whose value stays hidden',
    live: written(
      changed(applied(), [...container, 0, 'env', 1], { name: 'TEAM', value: 'hunter2' }),
      below([...postgres, 'f:env', 'k:{"name":"TEAM"}'], { '.': {}, 'f:name': {}, 'f:value': {} }),
    ),
    expected: ['spec.template.spec.containers[name=postgres].env[name=TEAM] = (hidden) by kubectl-patch'],
  },
  {
    what: 'each label of the pod template, though all of them are his',
    live: written(
      changed(applied(), ['spec', 'template', 'metadata'], { labels: { a: '1', b: '' } }),
      below(['f:spec', 'f:template', 'f:metadata', 'f:labels'], { '.': {}, 'f:a': {}, 'f:b': {} }),
    ),
    expected: [
      'spec.template.metadata.labels.a = 1 by kubectl-patch',
      'spec.template.metadata.labels.b =  by kubectl-patch',
    ],
  },
  {
    what: 'a struct is one addition',
    live: written(
      changed(applied(), ['spec', 'template', 'spec', 'dnsConfig'], { nameservers: ['10.0.0.1'] }),
      below([...pod, 'f:dnsConfig'], { 'f:nameservers': {} }),
    ),
    expected: ['spec.template.spec.dnsConfig = {"nameservers":["10.0.0.1"]} by kubectl-patch'],
  },
  {
    what: 'what the server would have filled in is none',
    live: written(
      changed(applied(), ['spec', 'template', 'spec', 'dnsPolicy'], 'ClusterFirst'),
      below([...pod, 'f:dnsPolicy'], {}),
    ),
    expected: [],
  },
  {
    what: 'another value than the server would have filled in is one',
    live: written(
      changed(applied(), ['spec', 'template', 'spec', 'dnsPolicy'], 'Default'),
      below([...pod, 'f:dnsPolicy'], {}),
    ),
    expected: ['spec.template.spec.dnsPolicy = Default by kubectl-patch'],
  },
  {
    what: 'a zero that says something else than its absence',
    live: written(
      changed(applied(), [...container, 0, 'securityContext'], { runAsUser: 0, readOnlyRootFilesystem: false }),
      below([...postgres, 'f:securityContext'], { 'f:runAsUser': {}, 'f:readOnlyRootFilesystem': {} }),
    ),
    expected: [
      'spec.template.spec.containers[name=postgres].securityContext = {"runAsUser":0,"readOnlyRootFilesystem":false} by kubectl-patch',
    ],
  },
  {
    what: 'a zero that the server fills in is none',
    live: written(
      changed(applied(), ['spec', 'updateStrategy'], { rollingUpdate: { partition: 0 } }),
      below(['f:spec', 'f:updateStrategy', 'f:rollingUpdate'], { 'f:partition': {} }),
    ),
    expected: [],
  },
  {
    what: 'a finalizer, and a second owner',
    live: written(
      changed(
        changed(applied(), ['metadata', 'finalizers'], ['example.com/kept']),
        ['metadata', 'ownerReferences', 1],
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'x',
          uid: 'u2',
        },
      ),
      {
        'f:metadata': {
          'f:finalizers': { '.': {}, 'v:"example.com/kept"': {} },
          'f:ownerReferences': { 'k:{"uid":"u2"}': {} },
        },
      },
    ),
    expected: [
      'metadata.finalizers["example.com/kept"] = example.com/kept by kubectl-patch',
      'metadata.ownerReferences[uid=u2] = {"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u2"} by kubectl-patch',
    ],
  },
  {
    what: 'the finalizers of a running deletion are none',
    live: written(changed(applied(), ['metadata', 'finalizers'], ['foregroundDeletion', 'orphan']), {
      'f:metadata': { 'f:finalizers': { '.': {}, 'v:"foregroundDeletion"': {}, 'v:"orphan"': {} } },
    }),
    expected: [],
  },
  {
    what: 'a pull secret and an annotation of a ServiceAccount, whose value stays hidden',
    live: written(
      { ...account, imagePullSecrets: [{ name: 'x' }] },
      {
        'f:imagePullSecrets': {},
        'f:metadata': {
          'f:annotations': { '.': {}, 'f:eks.amazonaws.com/role-arn': {}, 'f:argocd.argoproj.io/tracking-id': {} },
          'f:labels': { 'f:x': {} },
        },
      },
    ),
    expected: [
      'imagePullSecrets = [{"name":"x"}] by kubectl-patch',
      'metadata.annotations[eks.amazonaws.com/role-arn] = (hidden) by kubectl-patch',
    ],
  },
  {
    what: 'the pull secrets that a distribution gives a ServiceAccount are none',
    live: written(
      { ...account, imagePullSecrets: [{ name: 'x' }] },
      { 'f:imagePullSecrets': {}, 'f:secrets': {} },
      { manager: 'openshift-controller-manager' },
    ),
    expected: [],
  },
  {
    what: 'rights and a finalizer that somebody gives a ServiceAccount under such a name',
    live: written(
      changed(account, ['metadata', 'finalizers'], ['example.com/kept']),
      {
        'f:metadata': {
          'f:annotations': { 'f:eks.amazonaws.com/role-arn': {} },
          'f:finalizers': { '.': {}, 'v:"example.com/kept"': {} },
        },
      },
      { manager: 'kube-controller-manager' },
    ),
    expected: [
      'metadata.annotations[eks.amazonaws.com/role-arn] = (hidden) by kube-controller-manager',
      'metadata.finalizers["example.com/kept"] = example.com/kept by kube-controller-manager',
    ],
  },
  {
    what: 'keys of a ConfigMap are Patroni’s to add, and that it is immutable is an addition',
    live: written(changed(applied(configuration), ['immutable'], true), {
      'f:data': { 'f:history': {} },
      'f:immutable': {},
    }),
    expected: ['immutable = true by kubectl-patch'],
  },
  { what: 'our own value by another too', live: written(stated, treeOf(['f:spec', 'f:replicas'])), expected: [] },
  {
    what: 'a status, and labels and annotations that came with it',
    live: written(
      changed(changed(stated, ['metadata', 'labels', 'x'], 'y'), ['status'], { replicas: 3 }),
      { 'f:metadata': { 'f:labels': { 'f:x': {} } }, 'f:status': { '.': {}, 'f:replicas': {} } },
      { subresource: 'status' },
    ),
    expected: [],
  },
  {
    what: 'a finalizer and an owner that came with a status',
    live: written(
      changed(
        changed(applied(), ['metadata', 'finalizers'], ['example.com/kept']),
        ['metadata', 'ownerReferences', 1],
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u2' },
      ),
      {
        'f:metadata': {
          'f:finalizers': { '.': {}, 'v:"example.com/kept"': {} },
          'f:ownerReferences': { 'k:{"uid":"u2"}': {} },
        },
        'f:status': { 'f:replicas': {} },
      },
      { subresource: 'status' },
    ),
    expected: [
      'metadata.finalizers["example.com/kept"] = example.com/kept by kubectl-patch',
      'metadata.ownerReferences[uid=u2] = {"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u2"} by kubectl-patch',
    ],
  },
  {
    what: 'the finalizer of a load balancer, which Kubernetes itself writes with a status, is none',
    live: written(
      changed(
        applied({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'orders' }, spec: {} }),
        ['metadata', 'finalizers'],
        ['service.kubernetes.io/load-balancer-cleanup'],
      ),
      { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"service.kubernetes.io/load-balancer-cleanup"': {} } } },
      { subresource: 'status', manager: 'cloud-controller-manager' },
    ),
    expected: [],
  },
  {
    what: 'a label of the object',
    live: written(changed(stated, ['metadata', 'labels', 'x'], 'y'), treeOf(['f:metadata', 'f:labels', 'f:x'])),
    expected: [],
  },
  {
    what: 'an owner with which the backups would go',
    live: written(ownedClaim(backups), owner),
    expected: [
      'metadata.ownerReferences[uid=u2] = {"apiVersion":"v1","kind":"Pod","name":"x","uid":"u2"} by kubectl-patch',
    ],
  },
  {
    what: 'what Kubernetes fills in of the claim of the backups is none, nor what protects it',
    live: written(
      changed(
        changed(applied(backups), ['spec', 'volumeName'], 'pv'),
        ['metadata', 'finalizers'],
        [
          'kubernetes.io/pvc-protection',
          'snapshot.storage.kubernetes.io/pvc-as-source-protection',
          'provisioner.storage.kubernetes.io/cloning-protection',
        ],
      ),
      {
        'f:metadata': {
          'f:annotations': { 'f:pv.kubernetes.io/bind-completed': {} },
          'f:finalizers': {
            '.': {},
            'v:"kubernetes.io/pvc-protection"': {},
            'v:"snapshot.storage.kubernetes.io/pvc-as-source-protection"': {},
            'v:"provisioner.storage.kubernetes.io/cloning-protection"': {},
          },
        },
        'f:spec': { 'f:volumeName': {} },
      },
      { manager: 'kube-controller-manager' },
    ),
    expected: [],
  },
  {
    what: 'the owner that the StatefulSet controller gives a claim of its own',
    live: written(ownedClaim(dataClaim), owner, { manager: 'kube-controller-manager' }),
    expected: [],
  },
  {
    what: 'a field by somebody under the name of a part of Kubernetes',
    live: written(
      changed(applied(), ['spec', 'template', 'spec', 'nodeName'], 'a'),
      below([...pod, 'f:nodeName'], {}),
      { manager: 'kubelet' },
    ),
    expected: ['spec.template.spec.nodeName = a by kubelet'],
  },
  {
    what: 'the number of members by an autoscaler, which has the name of the controller manager',
    live: written(disowned(applied(), ['f:spec', 'f:replicas']), treeOf(['f:spec', 'f:replicas']), {
      manager: 'kube-controller-manager',
      subresource: 'scale',
    }),
    expected: ['spec.replicas = 3 by kube-controller-manager'],
  },
];

for (const { what, live, expected } of rows) {
  test(`what others own beside us: ${what}`, () => {
    const found = foreignFields(live, ours);
    assert.deepEqual(
      found.map(({ path, value, editor }) => `${readable(path)} = ${value} by ${editor.manager}`),
      expected,
    );
  });
}

test('what the server filled in where somebody wrote is no addition, but he holds it', () => {
  const strategy = { rollingUpdate: { partition: 0 } };
  const live = written(
    changed(applied(), ['spec', 'updateStrategy'], strategy),
    below(['f:spec', 'f:updateStrategy', 'f:rollingUpdate'], { 'f:partition': {} }),
  );
  assert.deepEqual(foreignFields(live, ours), []);
  assert.deepEqual(
    heldByOthers(live, ours).map(({ path }) => readable(path)),
    ['spec.updateStrategy'],
  );
});
