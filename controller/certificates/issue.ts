import 'reflect-metadata';
import { createPrivateKey, webcrypto, X509Certificate as NodeCertificate } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { minute, type Lifetime } from './lifetime.ts';

/** A certificate and its private key, both in PEM. */
export interface Pair extends Lifetime {
  readonly certificate: string;
  readonly key: string;
}

const day = 24 * 60 * minute;
const authorityDays = 3650;
const serverDays = 90;
/** A clock that is a little behind takes a certificate that was just made all the same. */
const backdatedMs = 10 * minute;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Makes an authority for one database. @param now milliseconds @param name such as `orders`; a DNS label, as the namespace */
export async function newAuthority(name: string, namespace: string, now: number): Promise<Pair> {
  const keys = await newKeys();
  const times = lifetime(now, authorityDays);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name} certificate authority, O=${namespace}`,
    keys,
    ...asDates(times),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys, times);
}

/**
 * Makes the certificate of a server.
 *
 * @param names DNS names; one may begin with `*.`
 * @param now milliseconds
 * @throws Error where the authority is no certificate with its key
 */
export async function issueServer(
  authority: Pick<Pair, 'certificate' | 'key'>,
  commonName: string,
  names: readonly string[],
  now: number,
): Promise<Pair> {
  const issuer = new X509Certificate(authority.certificate);
  const keys = await newKeys();
  const times = lifetime(now, serverDays);
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${commonName}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await signingKey(authority.key),
    ...asDates(times),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
      await AuthorityKeyIdentifierExtension.create(issuer),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys, times);
}

/** Whether an authority can sign a certificate now that it outlives. Whatever else stands in its place cannot. @param now milliseconds */
export function canSign({ certificate, key }: Pick<Pair, 'certificate' | 'key'>, now: number): boolean {
  try {
    const authority = new NodeCertificate(certificate);
    const isPair = authority.ca && authority.checkPrivateKey(createPrivateKey(key));
    return isPair && authority.validToDate.getTime() >= now + serverDays * day;
  } catch {
    return false;
  }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function signingKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}

/** Whole seconds: a certificate holds no fractions. */
function lifetime(now: number, days: number): Lifetime {
  const start = Math.floor(now / 1000) * 1000;
  return { notBefore: start - backdatedMs, notAfter: start + days * day };
}

function asDates({ notBefore, notAfter }: Lifetime): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(notBefore), notAfter: new Date(notAfter) };
}

async function pairOf(
  certificate: X509Certificate,
  { privateKey }: webcrypto.CryptoKeyPair,
  times: Lifetime,
): Promise<Pair> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  const key = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' }).export({ type: 'pkcs8', format: 'pem' });
  return { certificate: `${certificate.toString('pem').trim()}\n`, key: String(key), ...times };
}
