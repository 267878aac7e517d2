import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, createSigningKeys } from './certificates.ts';

const authority = createAuthority('plumbline');
const root = new X509Certificate(authority.certificate);

test('an authority signs itself', () => {
  assert.equal(root.ca, true);
  assert.equal(root.subject, 'CN=plumbline');
  assert.ok(root.verify(root.publicKey));
  assert.ok(root.checkPrivateKey(createPrivateKey(authority.key)));
});

test('a client certificate carries the user and each group', () => {
  const { certificate, key } = authority.issueClient({ commonName: 'jörg', organizations: ['developers', 'on-call'] });
  const client = new X509Certificate(certificate);
  assert.equal(client.subject, 'O=developers\nO=on-call\nCN=jörg');
  assert.ok(client.checkIssued(root));
  assert.ok(client.verify(root.publicKey));
  assert.ok(client.checkPrivateKey(createPrivateKey(key)));
  assert.equal(client.ca, false);
  assert.deepEqual(client.keyUsage, ['1.3.6.1.5.5.7.3.2']);
});

test('a server certificate is good for its names and addresses, for a year', () => {
  const names = ['localhost', 'kubernetes.default.svc'];
  const { certificate } = authority.issueServer({ commonName: 'server' }, names, ['127.0.0.1', '10.96.0.1']);
  const server = new X509Certificate(certificate);
  assert.equal(
    server.subjectAltName,
    'DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:10.96.0.1',
  );
  assert.equal(server.checkIP('10.96.0.1'), '10.96.0.1');
  assert.equal(server.checkHost('example.org'), undefined);
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const days = (server.validToDate.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 364 && days <= 365, `${days} days`);
});

test('every certificate has a serial number of its own', () => {
  const serials = Array.from({ length: 50 }, () => {
    const { certificate } = authority.issueClient({ commonName: 'same' });
    return new X509Certificate(certificate).serialNumber;
  });
  assert.equal(new Set(serials).size, serials.length);
  for (const serial of serials) assert.match(serial, /^[4-7]/, 'positive, and as long as any other');
});

test('the public half of signing keys belongs to the private one', () => {
  const { publicKey, privateKey } = createSigningKeys();
  assert.ok(createPublicKey(privateKey).equals(createPublicKey(publicKey)));
});
