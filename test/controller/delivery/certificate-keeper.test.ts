import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { Children } from '../../../controller/database/children.ts';
import { CertificateKeeper } from '../../../controller/delivery/certificate-keeper.ts';
import { createSecret } from '../../../controller/delivery/create-secret.ts';
import { KubeError, type Kube, type KubeObject } from '../../../controller/kube/index.ts';
import { resource, statedOf } from '../database/given.ts';

const day = 86_400_000;
const start = Date.parse('2026-01-01T12:00:00Z');
const keys = ['Secret/shop/orders-tls', 'Secret/shop/orders-tls-ca'];

/** The Secrets of a cluster, and a clock that a test sets. */
class Given {
  now = start;
  /** A policy of the cluster takes annotations away. */
  isStripping = false;
  readonly secrets = new Map<string, KubeObject>();
  readonly requests: string[] = [];
  readonly children = new Children(() => undefined);
  readonly #kube: Kube;
  readonly #keeper: CertificateKeeper;
  #version = 100;

  constructor() {
    const kube: Partial<Kube> = {
      get: async (_, { name }) => this.#find('get', name) as never,
      create: async (object) => {
        this.requests.push(`create ${object.metadata.name}`);
        return this.#store({
          ...object,
          metadata: { ...object.metadata, uid: `uid-${object.metadata.name}` },
        }) as never;
      },
      patch: async (_, { name }, { body }) => {
        const found = this.#find('patch', name);
        const { metadata, data } = body as KubeObject & { readonly data: object };
        assert.equal(metadata.uid, found.metadata.uid);
        if (metadata.resourceVersion !== found.metadata.resourceVersion) {
          throw new KubeError({
            tried: { verb: 'patch', kind: 'Secret', object: name },
            message: 'the object has been modified',
            status: 409,
          });
        }
        return this.#store({ ...found, data, metadata: { ...found.metadata, ...metadata } }) as never;
      },
    };
    this.#kube = kube as Kube;
    this.#keeper = new CertificateKeeper(this.#kube, this.children, {
      now: () => this.now,
      sleep: async () => undefined,
    });
  }

  /** With the Secrets that a first reconcile makes. */
  static async settled(database = resource()): Promise<Given> {
    const given = new Given();
    for (const name of ['orders-tls-ca', 'orders-tls']) {
      const stated = statedOf(database, `Secret/${name}`);
      const created = await createSecret(given.#kube, stated, database, given.now, new AbortController().signal);
      given.children.accept(created, stated.hash);
    }
    given.requests.length = 0;
    return given;
  }

  keep(database: StoredDatabaseService = resource(), made: readonly string[] = keys): Promise<number | undefined> {
    return this.#keeper.keep(database, made, new AbortController().signal);
  }

  /** A watch, which shows metadata only. */
  show(name: string, metadata: Partial<KubeObject['metadata']> = {}): void {
    const { apiVersion, kind, metadata: found } = this.secrets.get(name) ?? assert.fail(name);
    this.children.upsert({ apiVersion, kind, metadata: { ...found, ...metadata } });
  }

  text(name: string, key: string): string {
    const { data } = (this.secrets.get(name) ?? assert.fail(name)) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    return Buffer.from(data?.[key] ?? '', 'base64').toString();
  }

  get certificate(): X509Certificate {
    return new X509Certificate(this.text('orders-tls', 'tls.crt'));
  }

  get authority(): X509Certificate {
    return new X509Certificate(this.text('orders-tls', 'ca.crt'));
  }

  edit(name: string, data: object): void {
    this.#store({ ...(this.secrets.get(name) ?? assert.fail(name)), data });
  }

  #find(verb: string, name: string): KubeObject {
    this.requests.push(`${verb} ${name}`);
    return this.secrets.get(name) ?? assert.fail(`no ${name}`);
  }

  #store(object: KubeObject): KubeObject {
    this.#version += 1;
    const { annotations, ...metadata } = object.metadata;
    const kept = this.isStripping || annotations === undefined ? {} : { annotations };
    const stored = { ...object, metadata: { ...metadata, ...kept, resourceVersion: String(this.#version) } };
    this.secrets.set(object.metadata.name, stored);
    return stored;
  }
}

test('a certificate that was just made is left alone, without a request, until two thirds of its life are over', async () => {
  const given = await Given.settled();
  const due = await given.keep();
  assert.deepEqual(given.requests, []);
  assert.ok(due !== undefined && Math.abs(due - (start + 60 * day)) < day / 24, String(due));
  given.now = due - 1;
  assert.equal(await given.keep(), due);
  assert.deepEqual(given.requests, []);
});

test('then it is renewed in place: another certificate, key and serial number, and the same authority', async () => {
  const given = await Given.settled();
  const before = { certificate: given.certificate, authority: given.authority };
  given.now = start + 61 * day;
  // WHEN
  const due = await given.keep();
  // THEN
  assert.deepEqual(given.requests, ['get orders-tls-ca', 'patch orders-tls']);
  const { certificate, authority } = given;
  assert.notEqual(certificate.serialNumber, before.certificate.serialNumber);
  assert.ok(!certificate.publicKey.equals(before.certificate.publicKey));
  assert.equal(authority.fingerprint256, before.authority.fingerprint256);
  assert.ok(certificate.verify(authority.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(given.text('orders-tls', 'tls.key'))));
  assert.equal(certificate.validToDate.getTime(), given.now + 90 * day);
  // AND once: the next look, before and after the watch shows it, asks nothing
  assert.equal(await given.keep(), due);
  given.show('orders-tls');
  assert.equal(await given.keep(), due);
  assert.equal(given.requests.length, 2);
});

test('a Secret that somebody has changed meanwhile is not overwritten', async () => {
  const given = await Given.settled();
  given.edit('orders-tls', { 'tls.crt': 'bWluZQ==' });
  given.now = start + 61 * day;
  await assert.rejects(given.keep(), /has been modified/);
  assert.equal(given.text('orders-tls', 'tls.crt'), 'mine');
});

test('where nothing says when it ends it is renewed', async () => {
  const given = await Given.settled();
  const { serialNumber } = given.certificate;
  given.show('orders-tls', { annotations: {} });
  await given.keep();
  assert.notEqual(given.certificate.serialNumber, serialNumber);
});

test('a policy that takes our annotations away makes one renewal, and no loop of them', async () => {
  const given = await Given.settled();
  given.isStripping = true;
  given.edit('orders-tls', {});
  given.show('orders-tls');
  const due = await given.keep();
  assert.ok(due !== undefined && due > given.now);
  given.show('orders-tls');
  for (let look = 0; look < 3; look++) assert.equal(await given.keep(), due);
  assert.deepEqual(given.requests, ['get orders-tls-ca', 'patch orders-tls']);
});

for (const [what, data] of [
  ['is damaged', { 'tls.crt': 'bm9uZQ==', 'tls.key': 'bm9uZQ==' }],
  ['is empty', {}],
] as const) {
  test(`an authority that ${what} is made anew with the next certificate`, async () => {
    const given = await Given.settled();
    const { fingerprint256 } = given.authority;
    given.edit('orders-tls-ca', data);
    given.now = start + 61 * day;
    await given.keep();
    assert.deepEqual(given.requests, ['get orders-tls-ca', 'patch orders-tls-ca', 'patch orders-tls']);
    assert.notEqual(given.authority.fingerprint256, fingerprint256);
    assert.ok(given.certificate.verify(given.authority.publicKey));
    assert.equal(given.text('orders-tls-ca', 'tls.crt'), given.text('orders-tls', 'ca.crt'));
  });
}

test('an authority that would end before the certificate is renewed with it', async () => {
  const given = await Given.settled();
  given.now = start + 3650 * day - 80 * day;
  await given.keep();
  assert.ok(given.authority.validToDate > given.certificate.validToDate);
});

test('a Secret that is not known to be ours is not touched', async () => {
  const given = await Given.settled();
  given.now = start + 61 * day;
  for (const made of [[], keys.slice(0, 1), keys.slice(1)]) assert.equal(await given.keep(resource(), made), undefined);
  assert.deepEqual(given.requests, []);
});

for (const tls of [{ mode: 'Off' }, { mode: 'Existing', secretName: 'mine' }] as const) {
  test(`with mode ${tls.mode} nothing is renewed`, async () => {
    const given = await Given.settled();
    given.now = start + 61 * day;
    assert.equal(await given.keep(resource({ tls })), undefined);
    assert.deepEqual(given.requests, []);
  });
}
