import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ephemeral range of Linux, macOS and Windows: while a server is down for a restart, no outgoing connection can
// be given its port, and a client that keeps dialling it cannot connect to itself.
const lowest = 20_000;
const highest = 29_999;
const attempts = 200;

const handedOut = new Set<number>();

/**
 * A port of 127.0.0.1 that was free a moment ago and was not handed out before by this process. Another process may still
 * take it before it is bound, so whoever starts a server on it tries again with another one.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
  throw new Error(`No free port found on 127.0.0.1 between ${lowest} and ${highest} in ${attempts} attempts.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
