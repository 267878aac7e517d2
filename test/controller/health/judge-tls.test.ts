import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeTls, type TlsSeen } from '../../../controller/health/judge-tls.ts';
import { servedCertificate } from '../../../controller/health/served-certificate.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const day = 86_400_000;

/** A member whose certificate of ninety days has some left. */
function member(name: string, daysLeft: number, problem?: string) {
  const notAfter = now + daysLeft * day;
  return { name, served: { lifetime: { notBefore: notAfter - 90 * day, notAfter }, problem } };
}

function judged(members: TlsSeen['members'], secret: string | undefined = 'orders-tls') {
  const { verdict, turnsAt } = judgeTls({ secret, members, now });
  return { ...verdict, turnsAt };
}

test('a certificate is served until it comes close to its end, and when that will be is known', () => {
  const { holds, reason, message, turnsAt } = judged([member('orders-0', 80), member('orders-1', 40)]);
  assert.deepEqual([holds, reason, turnsAt], [true, 'CertificateServed', now + 33 * day]);
  assert.match(message, /Secret orders-tls; the first to end does so at 2026-02-10T12:00:00Z/);
});

test('one that a member serves is expiring, whatever the Secret holds and the others serve', () => {
  for (const daysLeft of [7, 1, 0, -5]) {
    const { holds, reason, message, turnsAt } = judged([member('orders-0', 90), member('orders-1', daysLeft)]);
    assert.deepEqual([holds, reason, turnsAt], [false, 'CertificateExpiring', undefined]);
    assert.match(message, /that orders-1 serves ends at .* Secret orders-tls/);
  }
});

test('a pair that cannot be served is named with its Secret, and says what serves instead', () => {
  const problem = 'the key in tls.key does not match the certificate in tls.crt';
  const { reason, message } = judged([member('orders-0', 50), member('orders-1', 50, problem)], 'mine');
  assert.equal(reason, 'CertificateUnusable');
  assert.equal(message, `Secret mine, on orders-1: ${problem}; the certificate before stays in service.`);
});

test('without one from before, nothing is served', () => {
  const { message } = judged([{ name: 'orders-0', served: { lifetime: undefined, problem: 'it has no tls.key' } }]);
  assert.match(message, /it has no tls.key; nothing is served/);
});

test('nothing was said yet', () => {
  assert.equal(judged([]).reason, 'CertificatePending');
  assert.equal(judged([{ name: 'orders-0', served: undefined }]).reason, 'CertificatePending');
});

test('TLS that is off is said to be, whatever members say that were made before', () => {
  const { verdict } = judgeTls({ secret: undefined, members: [member('orders-0', 1)], now });
  assert.deepEqual([verdict.holds, verdict.reason], [false, 'TlsOff']);
});

test('what a member says is read', () => {
  const said = { serial: '0A', notBefore: '2026-01-01T00:00:00Z', notAfter: '2026-02-01T00:00:00Z', problem: 'x' };
  assert.deepEqual(of(JSON.stringify(said)), {
    lifetime: { notBefore: Date.parse(said.notBefore), notAfter: Date.parse(said.notAfter) },
    problem: 'x',
  });
});

test('what cannot be read was not said, and a long problem is cut', () => {
  for (const text of ['', '{', 'null', '7', '"x"']) assert.equal(of(text), undefined, text);
  assert.deepEqual(of('{"notAfter":1,"problem":{}}'), { lifetime: undefined, problem: undefined });
  assert.equal(of(JSON.stringify({ problem: 'x'.repeat(9999) }))?.problem?.length, 200);
});

function of(text: string) {
  return servedCertificate({ annotations: { 'plumbline.dev/tls': text } });
}
