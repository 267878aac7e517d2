import type { V1Container } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../constructs/emit.ts';
import { everything, orders, podTemplates } from './orders.ts';

/*
 * The rules of the Pod Security Standard "restricted".
 * Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
const templates = podTemplates(orders({ ...everything, monitoring: { enabled: true } }));

test('members and backups are all there is to check', () => {
  assert.deepEqual(
    templates.map(({ owner }) => owner),
    ['StatefulSet/orders', 'CronJob/orders-backup'],
  );
});

for (const { owner, spec } of templates) {
  const containers: readonly Json<V1Container>[] = [...(spec.initContainers ?? []), ...spec.containers];

  test(`${owner}: pods pass the restricted level`, () => {
    assert.equal(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC, undefined);
    const allowed = new Set(['configMap', 'emptyDir', 'secret', 'persistentVolumeClaim', 'projected', 'downwardAPI']);
    for (const { name, ...source } of spec.volumes ?? []) {
      for (const kind of Object.keys(source)) assert.ok(allowed.has(kind), `volume ${name} is a ${kind}`);
    }
    assert.equal(spec.securityContext?.seccompProfile?.type, 'RuntimeDefault');
    for (const { name, securityContext, ports } of containers) {
      assert.equal(securityContext?.runAsNonRoot, true, name);
      assert.equal(securityContext.allowPrivilegeEscalation, false, name);
      assert.equal(securityContext.privileged, false, name);
      assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] }, name);
      for (const port of ports ?? []) assert.equal(port.hostPort, undefined, name);
    }
  });

  test(`${owner}: the root file system is read-only, and what is written to is mounted`, () => {
    for (const container of containers) assert.equal(container.securityContext?.readOnlyRootFilesystem, true);
  });

  test(`${owner}: uid, group and volume group are 26 for every container, none is free (CrunchyData/postgres-operator#517)`, () => {
    const { runAsUser, runAsGroup, fsGroup, fsGroupChangePolicy, runAsNonRoot } = spec.securityContext ?? {};
    assert.deepEqual([runAsUser, runAsGroup, fsGroup, runAsNonRoot], [26, 26, 26, true]);
    assert.equal(fsGroupChangePolicy, 'OnRootMismatch');
    for (const { securityContext } of containers) {
      assert.equal(securityContext?.runAsUser, undefined);
      assert.equal(securityContext?.runAsGroup, undefined);
    }
  });

  test(`${owner}: no Service of the namespace becomes an environment variable (elastic/cloud-on-k8s#1987)`, () => {
    assert.equal(spec.enableServiceLinks, false);
  });

  test(`${owner}: no environment variable is configuration of PostgreSQL, Patroni or pgBackRest, or a password`, () => {
    for (const { name, env } of containers) {
      for (const variable of env ?? []) {
        assert.doesNotMatch(variable.name, /^(PG|PATRONI_|PGBACKREST_|PLUMBLINE_)/, name);
        assert.equal(variable.valueFrom?.secretKeyRef, undefined, name);
      }
    }
  });

  test(`${owner}: every emptyDir has a limit, and what grows with data lies on none (CrunchyData/postgres-operator#4211)`, () => {
    const scratch = (spec.volumes ?? []).filter((volume) => volume.emptyDir);
    assert.ok(scratch.length > 0);
    for (const { name, emptyDir } of scratch) assert.match(emptyDir?.sizeLimit ?? '', /^\d+Mi$/, name);
    const paths = containers.flatMap(({ volumeMounts }) =>
      (volumeMounts ?? []).filter(({ name }) => scratch.some((volume) => volume.name === name)).map((m) => m.mountPath),
    );
    for (const path of paths)
      assert.match(
        path,
        /^(\/tmp|\/run\/plumbline|\/run\/plumbline-monitoring|\/run\/postgresql|\/dev\/shm|\/var\/run\/secrets\/.+)$/,
      );
  });

  test(`${owner}: every mount has its volume and states whether it is read-only`, () => {
    const volumes = new Set([...(spec.volumes ?? []).map(({ name }) => name), 'data']);
    for (const { volumeMounts } of containers) {
      for (const mount of volumeMounts ?? []) {
        assert.ok(volumes.has(mount.name), mount.name);
        assert.equal(typeof mount.readOnly, 'boolean', mount.name);
      }
    }
  });

  test(`${owner}: every container states its resources, memory always with a limit (mariadb-operator#1399)`, () => {
    for (const { name, resources } of containers) {
      assert.ok(resources?.requests?.['cpu'], name);
      assert.ok(resources.requests['memory'], name);
      assert.ok(resources.limits?.['memory'], name);
    }
  });

  test(`${owner}: every port states its protocol`, () => {
    for (const { ports } of containers) for (const port of ports ?? []) assert.equal(port.protocol, 'TCP');
  });

  test(`${owner}: whether the token is mounted is stated`, () => {
    assert.equal(spec.automountServiceAccountToken, owner === 'StatefulSet/orders');
  });
}
