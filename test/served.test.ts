import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { served } from './served.ts';

test('a client that ends in the middle of its request fails no test', async () => {
  // GIVEN
  const begun = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<unknown>();
  const server = createServer(
    served(async (request, response) => {
      begun.resolve();
      const read = text(request);
      read.catch(failed.resolve);
      response.end(await read);
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');

  // WHEN
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf');
  await begun.promise;
  client.destroy();

  // THEN nobody handles what became of it, and the test runner hears of nothing
  assert.match(String(await failed.promise), /aborted/);
  await delay(50);
  server.close();
});
