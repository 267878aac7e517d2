import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoNode } from '../cluster/index.ts';
import { Stage } from './stage.ts';

const reason = whyNoNode();
const skip = reason === undefined ? false : `No node here: ${reason}.`;

test('a change of the pods reaches replicas first and the old primary last, after a switchover', { skip }, async () => {
  // GIVEN three members
  await using stage = await Stage.open({ replicas: 3, durability: 'Sync' });
  const before = await stage.uids();
  const primary = await stage.primary();

  // WHEN their resources change
  await stage.edit({ resources: { requests: { cpu: '60m', memory: '256Mi' } } });
  await stage.rolledOut(before);

  // THEN each was made again once, the primary last, and another one leads
  const steps = stage.steps.map(({ reason, message }) => `${reason} ${/^\S+/.exec(message)?.[0]}`);
  const replicas = ['orders-2', 'orders-1', 'orders-0'].filter((name) => name !== primary);
  assert.deepEqual(steps, [
    ...replicas.map((name) => `MemberReplaced ${name}`),
    `SwitchoverRequested ${primary}`,
    `MemberReplaced ${primary}`,
    'RevisionStable Every',
  ]);
  assert.notEqual(await stage.primary(), primary);
});
