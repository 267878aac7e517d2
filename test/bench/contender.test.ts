import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../controller/runtime/logger.ts';
import { compare, naming, plumbline, reapply } from './contender.ts';

test('a line about drift is a report, and says who it was', () => {
  const lines: string[] = [];
  const log = createLogger({ isReadable: false, output: { write: (line) => void lines.push(line) } });
  const editor = { manager: 'kubectl-edit', operation: 'Update', time: undefined };
  log.info({ drift: { action: 'Corrected', object: 'Service/orders', ...editor } }, 'kubectl-edit changed spec.type.');
  log.info({ identity: 'a' }, 'the leader is known');
  const reports = lines.filter(plumbline.isReport);
  assert.equal(reports.length, 1);
  assert.equal(naming(reports, 'kubectl-edit'), 1);
  assert.equal(naming(reports, 'kubectl'), 0);
});

test('a peer reports what it configured, not what it created', () => {
  assert.ok(compare.isReport('Service/shop/orders configured'));
  assert.ok(!compare.isReport('Service/shop/orders created'));
  assert.ok(!reapply.isReport('Service/shop/orders configured'));
});
