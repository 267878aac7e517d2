import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import {
  bitString,
  boolean,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  tagged,
  taggedPrimitive,
  utcTime,
  utf8String,
} from './der.ts';

/** A certificate and its private key (ECDSA P-256), both as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What Kubernetes reads from a client certificate: the common name is the user, each organization a group. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface Authority extends KeyPair {
  /** A certificate for a server that answers on these DNS names and IPv4 addresses. */
  issueServer(subject: Subject, names: readonly string[], addresses: readonly string[]): KeyPair;
  /** A certificate with which a client proves who it is. */
  issueClient(subject: Subject): KeyPair;
}

const validDays = 365;

/** Creates a certificate authority that lives in memory and signs certificates for a year. */
export function createAuthority(commonName: string): Authority {
  const keys = generateKeys();
  const issuer: Issuer = { name: distinguishedName({ commonName }), ...keys };
  const keyUsage = extension('2.5.29.15', bitString(Buffer.from([0x86]), 1), true); // digitalSignature, keyCertSign, cRLSign
  const isAuthority = extension('2.5.29.19', sequence(boolean(true)), true);
  return {
    certificate: createCertificate(issuer, issuer.name, keys.publicKey, [keyUsage, isAuthority]),
    key: pem('PRIVATE KEY', keys.privateKey.export({ type: 'pkcs8', format: 'der' })),
    issueServer: (subject, names, addresses) =>
      issue(issuer, subject, '1.3.6.1.5.5.7.3.1', [alternativeNames(names, addresses)]),
    issueClient: (subject) => issue(issuer, subject, '1.3.6.1.5.5.7.3.2', []),
  };
}

/** A key pair (ECDSA P-256, PEM) to sign service account tokens with. */
export function createSigningKeys(): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = generateKeys();
  return {
    publicKey: pem('PUBLIC KEY', publicKey.export({ type: 'spki', format: 'der' })),
    privateKey: pem('PRIVATE KEY', privateKey.export({ type: 'pkcs8', format: 'der' })),
  };
}

interface Issuer {
  readonly name: Buffer;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function generateKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function issue(issuer: Issuer, subject: Subject, usage: string, extensions: readonly Buffer[]): KeyPair {
  const { publicKey, privateKey } = generateKeys();
  const keyUsage = extension('2.5.29.15', bitString(Buffer.from([0x80]), 7), true); // digitalSignature
  const extendedKeyUsage = extension('2.5.29.37', sequence(objectIdentifier(usage)));
  return {
    certificate: createCertificate(issuer, distinguishedName(subject), publicKey, [
      keyUsage,
      extendedKeyUsage,
      ...extensions,
    ]),
    key: pem('PRIVATE KEY', privateKey.export({ type: 'pkcs8', format: 'der' })),
  };
}

/** RFC 5280, section 4.1. */
function createCertificate(
  issuer: Issuer,
  subject: Buffer,
  publicKey: KeyObject,
  extensions: readonly Buffer[],
): string {
  const signatureAlgorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2')); // ecdsa-with-SHA256
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const now = Date.now();
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    signatureAlgorithm,
    issuer.name,
    sequence(utcTime(new Date(now - 3_600_000)), utcTime(new Date(now + validDays * 86_400_000))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      3,
      sequence(
        extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
        extension('2.5.29.35', sequence(taggedPrimitive(0, keyIdentifier(issuer.publicKey)))),
        ...extensions,
      ),
    ),
  );
  const signature = sign('sha256', content, issuer.privateKey);
  return pem('CERTIFICATE', sequence(content, signatureAlgorithm, bitString(signature)));
}

function distinguishedName(subject: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(objectIdentifier(type), utf8String(value)));
  return sequence(
    ...(subject.organizations ?? []).map((organization) => attribute('2.5.4.10', organization)),
    attribute('2.5.4.3', subject.commonName),
  );
}

function alternativeNames(names: readonly string[], addresses: readonly string[]): Buffer {
  return extension(
    '2.5.29.17',
    sequence(
      ...names.map((name) => taggedPrimitive(2, Buffer.from(name, 'ascii'))),
      ...addresses.map((address) => taggedPrimitive(7, Buffer.from(address.split('.').map(Number)))),
    ),
  );
}

function extension(type: string, value: Buffer, isCritical = false): Buffer {
  return sequence(objectIdentifier(type), ...(isCritical ? [boolean(true)] : []), octetString(value));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
