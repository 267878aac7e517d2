import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { issueServer, newAuthority } from '../../../controller/certificates/issue.ts';
import { answering, EndpointError, listen, say, type Endpoint } from '../../../controller/endpoints/endpoint.ts';
import { secureServer } from '../../../controller/endpoints/secure-server.ts';
import {
  certificateFromFiles,
  selfSignedCertificate,
  type ServingCertificate,
} from '../../../controller/endpoints/serving-certificate.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { ask } from './ask.ts';
import { discardFolder } from '../../discard-folder.ts';

const day = 24 * 60 * 60_000;

class Files implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'plumbline-certificate-'));
  readonly certFile = join(this.folder, 'tls.crt');
  readonly keyFile = join(this.folder, 'tls.key');

  /** Puts another certificate there, as the kubelet does: whole files, by a rename. @returns its authority */
  async replace(): Promise<string> {
    const authority = await newAuthority('metrics', 'test', Date.now());
    const { certificate, key } = await issueServer(authority, 'metrics', ['localhost'], Date.now());
    this.put(this.keyFile, key);
    this.put(this.certFile, certificate);
    return authority.certificate;
  }

  put(file: string, text: string): void {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  [Symbol.dispose](): void {
    discardFolder(this.folder);
  }
}

async function serve(certificate: ServingCertificate): Promise<Endpoint & { readonly url: string }> {
  const listener = answering(
    (_, response) => say(response, 200, 'here\n'),
    (error) => assert.fail(String(error)),
  );
  const endpoint = await listen(
    secureServer(certificate, listener),
    { host: 'localhost', port: 0 },
    '--metrics-address',
  );
  return { ...endpoint, url: `https://localhost:${endpoint.port}/` };
}

describe('a certificate from files', () => {
  test('is served, and the next connection gets the one that has replaced it', async () => {
    using files = new Files();
    const before = await files.replace();
    await using server = await serve(certificateFromFiles(files, (error) => assert.fail(error)));
    assert.equal((await ask(server.url, { ca: before })).body, 'here\n');

    const after = await files.replace();

    assert.equal((await ask(server.url, { ca: after })).body, 'here\n');
    await assert.rejects(ask(server.url, { ca: before }), /certificate/);
  });

  test('that is half replaced, or lost, is told once for each change, and the old one stays', async () => {
    using files = new Files();
    const errors: Error[] = [];
    const authority = await files.replace();
    await using server = await serve(certificateFromFiles(files, (error) => errors.push(error)));

    files.put(files.keyFile, 'no key');
    assert.equal((await ask(server.url, { ca: authority })).body, 'here\n');
    assert.equal((await ask(server.url, { ca: authority })).body, 'here\n');
    rmSync(files.keyFile);
    assert.equal((await ask(server.url, { ca: authority })).body, 'here\n');

    assert.equal(errors.length, 2);
    assert.match(errors[0]?.message ?? '', /are no certificate with its private key/);
    assert.match(errors[1]?.message ?? '', /tls\.key cannot be read \(ENOENT\)/);
  });

  test('that is not there at the start is told in one line', () => {
    using files = new Files();
    const start = () => certificateFromFiles(files, (error) => assert.fail(error));
    assert.throws(start, (error) => {
      assert(error instanceof EndpointError);
      assert.equal(error.message, `${files.certFile} cannot be read (ENOENT)`);
      return true;
    });
  });
});

describe('a certificate of our own making', () => {
  test('is served, and renewed long before it ends', async () => {
    const clock = new VirtualClock(Date.now());
    const certificate = await selfSignedCertificate(['localhost'], clock, (error) => assert.fail(String(error)));
    await using server = await serve(certificate);
    const first = (await ask(server.url)).certificate;
    assert.equal((await ask(server.url)).certificate, first);

    await clock.advance(61 * day);
    const { cert } = certificate.newest();
    while (certificate.newest().cert === cert) await new Promise(setImmediate);

    const second = (await ask(server.url)).certificate;
    assert.notEqual(second, first);
    assert.equal((await ask(server.url)).certificate, second);
  });
});
