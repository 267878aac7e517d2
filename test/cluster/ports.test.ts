import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from './ports.ts';

test('ports are handed out once, and lie below those that outgoing connections use', async () => {
  const ports = await Promise.all(Array.from({ length: 100 }, freePort));
  assert.equal(new Set(ports).size, ports.length);
  for (const port of ports) assert.ok(port >= 20_000 && port < 30_000, String(port));
});
