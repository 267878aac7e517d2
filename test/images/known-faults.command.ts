import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { inController, withLibrary } from '../../images/controller/shipped.ts';
import { TemporaryFolder } from '../commands/command.ts';
import { audit, serious } from './known-faults.ts';

const shipped = [...(await inController()), ...withLibrary()];

test('no severe fault is known of what ships', async (t) => {
  const found = await audit();
  if (!found.isAnswered) {
    t.skip(`npm audit cannot be asked here: ${found.why}`);
    return;
  }
  const faults = serious(found.faults, shipped);
  for (const fault of found.faults) if (!faults.includes(fault)) t.diagnostic(`known, and left: ${fault.text}`);
  assert.deepEqual(
    faults.map(({ text }) => text),
    [],
  );
});

describe('a fault that a registry knows', () => {
  for (const [what, name, severity, isSerious] of [
    ['severe, and in what ships', 'undici', 'high', true],
    ['severe, and in a copy that a package brings along', 'minimatch', 'critical', true],
    ['severe, and in a tool', 'typescript', 'critical', false],
    ['moderate', 'undici', 'moderate', false],
  ] as const) {
    test(`${what}: ${isSerious ? 'fails' : 'is told'}`, async () => {
      await using registry = await knowing(name, severity);
      using cache = new TemporaryFolder();
      const found = await audit({ npm_config_registry: registry.url, npm_config_cache: cache.path });
      assert(found.isAnswered);
      const [fault, ...others] = found.faults;
      assert.deepEqual(others, []);
      assert.equal(fault?.text, `${name} <99.0.0: It breaks (${severity}), https://advisories.example/1`);
      assert.deepEqual(serious(found.faults, shipped), isSerious ? [fault] : []);
    });
  }

  test('is not known where nobody answers, and that is no answer', async () => {
    const found = await audit({ npm_config_registry: 'http://127.0.0.1:1' });
    assert(!found.isAnswered);
    assert.match(found.why, /ECONNREFUSED/);
  });
});

/** A registry that knows one fault: https://github.com/npm/npm-registry-fetch, `/-/npm/v1/security/advisories/bulk`. */
async function knowing(name: string, severity: string): Promise<AsyncDisposable & { readonly url: string }> {
  const fault = {
    id: 1,
    url: 'https://advisories.example/1',
    title: 'It breaks',
    severity,
    vulnerable_versions: '<99.0.0',
  };
  const server = createServer((request, response) => {
    const isAsked = request.url === '/-/npm/v1/security/advisories/bulk';
    request.resume().once('end', () => {
      response.writeHead(isAsked ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isAsked ? { [name]: [fault] } : {}));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
