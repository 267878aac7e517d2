import assert from 'node:assert/strict';
import test from 'node:test';
import { restartRemedy } from '../../../controller/database/restart-remedy.ts';
import { resource } from './given.ts';

const restart = {
  object: 'StatefulSet/orders',
  field: 'spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]',
};

test('who runs kubectl rollout restart is told how the members are made again, where Kubernetes does not do it', () => {
  assert.equal(
    restartRemedy(resource(), [{ ...restart, field: 'spec.template.metadata.annotations.note' }, restart]),
    'No member restarts for that; to have them made again, replicas first: kubectl -n shop annotate dbs orders plumbline.dev/restarted-at=$(date +%s) --overwrite',
  );
  assert.equal(restartRemedy(resource({ upgrade: { rollout: 'StatefulSet' } }), [restart]), undefined);
  assert.equal(restartRemedy(resource(), [{ ...restart, object: 'Deployment/orders' }]), undefined);
  assert.equal(restartRemedy(resource(), []), undefined);
});
