import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { ServingCertificate, ServingPair } from './serving-certificate.ts';

/** A server of HTTPS whose next handshake is always with the newest certificate. */
export function secureServer(certificate: ServingCertificate, listener: RequestListener): Server {
  let served: ServingPair = certificate.newest();
  const server = createServer({ ...served }, listener);
  // Before the listener of Node's own, which begins the handshake.
  server.prependListener('connection', () => {
    const newest = certificate.newest();
    if (newest === served) return;
    served = newest;
    server.setSecureContext({ ...newest });
  });
  // A handshake that fails is the other side's affair.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  return server;
}
