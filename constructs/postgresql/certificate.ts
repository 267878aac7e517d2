import type { DatabaseServiceDocument } from '../api/resource.ts';
import { notAfterAnnotation, notBeforeAnnotation } from '../labels.ts';
import type { Manifest } from '../manifest.ts';
import { settle } from './defaults.ts';
import { secret } from './secret.ts';

/** A certificate and its key, in PEM. */
export interface CertificateValues {
  readonly certificate: string;
  readonly key: string;
}

/** The certificate of the members, with times of RFC 3339. */
export interface ServerCertificateValues extends CertificateValues {
  /** Certificate of the authority, in PEM: what clients verify by. */
  readonly authority: string;
  readonly notBefore: string;
  readonly notAfter: string;
}

const type = 'kubernetes.io/tls';

/**
 * The Secret `<name>-tls`: what the members serve, and `ca.crt` for clients. From when until when it holds stands in annotations too, for whoever
 * may read no Secret's data. Never part of `render()`.
 */
export function certificateSecret(resource: DatabaseServiceDocument, values: ServerCertificateValues): Manifest {
  const database = settle(resource);
  const { certificate, key, authority, notBefore, notAfter } = values;
  const data = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority };
  const annotations = { [notBeforeAnnotation]: notBefore, [notAfterAnnotation]: notAfter };
  return secret(database, database.names.tls, data, { type, annotations });
}

/** The Secret `<name>-tls-ca`: apart, so that no member has the key that signs, and `ca.crt` stays the same when the certificate is renewed. */
export function authoritySecret(resource: DatabaseServiceDocument, { certificate, key }: CertificateValues): Manifest {
  const database = settle(resource);
  return secret(database, database.names.tlsAuthority, { 'tls.crt': certificate, 'tls.key': key }, { type });
}

/** Every name by which clients reach a database: those of its Services in each of their spellings, and its members one by one. */
export function serverNames(resource: DatabaseServiceDocument): readonly string[] {
  const { namespace, names } = settle(resource);
  const services = [names.database, names.readOnly].flatMap((name) => [name, ...inNamespace(name, namespace)]);
  return [...services, ...inNamespace(`*.${names.members}`, namespace)];
}

/** The last one only where the cluster's domain is the usual one; elsewhere it names nothing. */
function inNamespace(name: string, namespace: string): readonly string[] {
  return [`${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}
