import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { canSign, issueServer, newAuthority } from '../../../controller/certificates/issue.ts';
import { serverNames } from '../../../constructs/postgresql/certificate.ts';
import { orders } from '../../constructs/postgresql/orders.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const day = 86_400_000;

const authority = await newAuthority('orders', 'shop', now);
const server = await issueServer(authority, 'orders', serverNames(orders()), now);

test('the certificate is signed by the authority, and its key is its own', () => {
  const [signer, certificate] = [new X509Certificate(authority.certificate), new X509Certificate(server.certificate)];
  assert.ok(certificate.checkIssued(signer));
  assert.ok(certificate.verify(signer.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(server.key)));
  assert.ok(signer.verify(signer.publicKey));
  assert.deepEqual([signer.ca, certificate.ca], [true, false]);
});

test('keys are of the curve P-256', () => {
  for (const { key } of [authority, server]) {
    assert.equal(createPrivateKey(key).asymmetricKeyDetails?.namedCurve, 'prime256v1');
  }
});

test('it holds for ninety days, its authority for ten years, and both a little before now', () => {
  for (const [pair, days] of [
    [server, 90],
    [authority, 3650],
  ] as const) {
    const { validFromDate, validToDate } = new X509Certificate(pair.certificate);
    assert.equal(validToDate.getTime(), now + days * day);
    assert.equal(validFromDate.getTime(), now - 600_000);
    assert.deepEqual([pair.notBefore, pair.notAfter], [validFromDate.getTime(), validToDate.getTime()]);
  }
});

test('clients that check the name may use every name of the database', () => {
  const certificate = new X509Certificate(server.certificate);
  for (const name of [
    'orders',
    'orders.shop.svc',
    'orders-ro.shop.svc.cluster.local',
    'orders-9.orders-members.shop.svc',
  ]) {
    assert.ok(certificate.checkHost(name), name);
  }
  for (const name of ['orders-members.shop.svc', 'ledger', 'orders.bank.svc']) {
    assert.equal(certificate.checkHost(name), undefined, name);
  }
});

test('the longest names make a certificate too', async () => {
  const [name, namespace] = ['o'.repeat(45), 's'.repeat(63)];
  const long = await newAuthority(name, namespace, now);
  const { certificate } = await issueServer(long, name, [`*.${name}-members.${namespace}.svc`], now);
  assert.ok(new X509Certificate(certificate).verify(new X509Certificate(long.certificate).publicKey));
});

test('no two certificates have one serial number', async () => {
  const others = await Promise.all([1, 2, 3].map(() => issueServer(authority, 'orders', ['orders'], now)));
  const serials = [server, ...others].map(({ certificate }) => new X509Certificate(certificate).serialNumber);
  assert.equal(new Set(serials).size, 4);
});

test('an authority signs as long as it outlives what it signs', () => {
  assert.equal(canSign(authority, now), true);
  assert.equal(canSign(authority, authority.notAfter - 90 * day), true);
  assert.equal(canSign(authority, authority.notAfter - 90 * day + 1000), false);
});

test('what somebody has put in place of the authority signs nothing', async () => {
  const other = await newAuthority('ledger', 'shop', now);
  assert.equal(canSign({ certificate: authority.certificate, key: other.key }, now), false);
  assert.equal(canSign(server, now), false);
  assert.equal(canSign({ certificate: '', key: '' }, now), false);
  assert.equal(canSign({ certificate: authority.certificate, key: 'no key' }, now), false);
});
