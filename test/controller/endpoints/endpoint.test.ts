import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { addressInWords, parseAddress, type Address } from '../../../controller/endpoints/address.ts';
import { answering, EndpointError, listen, say } from '../../../controller/endpoints/endpoint.ts';
import { ask } from './ask.ts';

const addresses: readonly (readonly [text: string, address: Address | undefined])[] = [
  [':8080', { host: undefined, port: 8080 }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['localhost:65535', { host: 'localhost', port: 65_535 }],
  ['[::1]:8081', { host: '::1', port: 8081 }],
  ['[::]:8081', { host: '::', port: 8081 }],
  ['8080', undefined],
  ['localhost', undefined],
  ['localhost:', undefined],
  ['localhost:65536', undefined],
  ['localhost:http', undefined],
  ['::1:8081', undefined],
  ['[localhost]:8081', undefined],
  ['a b:1', undefined],
  ['', undefined],
];

describe('an address', () => {
  for (const [text, address] of addresses) {
    test(`${JSON.stringify(text)} is ${address === undefined ? 'none' : 'one'}`, () => {
      assert.deepEqual(parseAddress(text), address);
      if (address !== undefined) assert.equal(addressInWords(address), text);
    });
  }
});

describe('an endpoint', () => {
  test('a port that is taken is told in one line, with the flag', async () => {
    await using taken = await listen(createServer(), { host: '127.0.0.1', port: 0 }, '--health-address');
    await assert.rejects(
      listen(createServer(), { host: '127.0.0.1', port: taken.port }, '--metrics-address'),
      (error) => {
        assert(error instanceof EndpointError);
        const start = `--metrics-address: 127.0.0.1:${taken.port} is taken by another process`;
        assert(error.message.startsWith(start), error.message);
        assert(!error.message.includes('\n'));
        return true;
      },
    );
  });

  test('so is an address of another machine', async () => {
    const elsewhere = listen(createServer(), { host: '192.0.2.1', port: 0 }, '--health-address');
    await assert.rejects(elsewhere, /^EndpointError: --health-address: 192\.0\.2\.1:0 is no address of this machine$/);
  });

  test('what a handler throws is told, and is an answer without a word of it', async () => {
    const errors: unknown[] = [];
    const broken = new Error('the password is hunter2');
    const listener = answering(
      () => {
        throw broken;
      },
      (error) => errors.push(error),
    );
    await using endpoint = await listen(createServer(listener), { host: '127.0.0.1', port: 0 }, '--health-address');
    const { status, body } = await ask(`http://127.0.0.1:${endpoint.port}/`);
    assert.deepEqual([status, body], [500, 'internal error\n']);
    assert.deepEqual(errors, [broken]);
  });

  test('only GET and HEAD are answered', async () => {
    const listener = answering(
      (_, response) => say(response, 200, 'here\n'),
      (error) => assert.fail(String(error)),
    );
    await using endpoint = await listen(createServer(listener), { host: '127.0.0.1', port: 0 }, '--health-address');
    const url = `http://127.0.0.1:${endpoint.port}/`;
    assert.equal((await ask(url)).body, 'here\n');
    assert.deepEqual(
      [(await ask(url, { method: 'HEAD' })).status, (await ask(url, { method: 'HEAD' })).body],
      [200, ''],
    );
    const { status, headers } = await ask(url, { method: 'POST' });
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
  });
});
