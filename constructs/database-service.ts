import { Construct } from 'constructs';
import type { DatabaseServiceDocument } from './api/resource.ts';
import { apiVersion, kind } from './api/resource.ts';
import { InvalidResourceError, validateResource } from './api/validate.ts';
import { engines, rendererOf } from './engine.ts';
import { namesOf } from './names.ts';

/** What a {@link DatabaseService} is made of: the metadata and the spec of the object of that kind. */
export interface DatabaseServiceProps {
  /** Name, at most 45 characters, and namespace. Default of the namespace: `default`. */
  readonly metadata: DatabaseServiceDocument['metadata'];
  /** The spec; see the reference of the DatabaseService API. */
  readonly spec: DatabaseServiceDocument['spec'];
}

/** Where a database is reached. */
export interface Endpoints {
  /** Service that leads to the primary. */
  readonly readWrite: string;
  /** Service that leads to the replicas. */
  readonly readOnly: string;
  readonly port: number;
}

const brand = Symbol.for('plumbline.dev/DatabaseService');

/**
 * A database with everything it needs. Names and selectors come from `metadata.name`, so moving the construct changes nothing.
 *
 * @example
 * const db = new DatabaseService(chart, 'orders', {
 *   metadata: { name: 'orders', namespace: 'shop' },
 *   spec: { engine: 'postgresql', version: '17', replicas: 3, storage: { size: '10Gi' } },
 * });
 * db.endpoints.readWrite; // 'orders'
 */
export class DatabaseService extends Construct {
  /** Where applications connect. */
  readonly endpoints: Endpoints;
  /** Secret with `username` and `password`, and, unless the spec names an existing one, `dbname`, `host`, `port` and `uri`. */
  readonly credentialsSecret: string;
  /** Secret with the certificate that the members serve, and `ca.crt` to verify it by, where it has that; undefined where TLS is off. */
  readonly certificateSecret: string | undefined;
  /** Secret with the passwords of the system: `superuser`, `replication`, `rewind`, `restapi`. Without a controller it is yours to make. */
  readonly systemSecret: string;

  /** Whether something is a DatabaseService, also one of another copy of this package. */
  static isDatabaseService(x: unknown): x is DatabaseService {
    return typeof x === 'object' && x !== null && brand in x;
  }

  /** Throws an `InvalidResourceError` that names the construct and lists all problems. */
  constructor(scope: Construct, id: string, props: DatabaseServiceProps) {
    super(scope, id);
    Object.defineProperty(this, brand, { value: true });
    const resource: DatabaseServiceDocument = { apiVersion, kind, metadata: props.metadata, spec: props.spec };
    const problems = validateResource(resource);
    if (problems.length > 0) throw new InvalidResourceError(`DatabaseService at ${this.node.path}`, problems);
    const names = namesOf(resource.metadata.name);
    this.endpoints = { readWrite: names.database, readOnly: names.readOnly, port: engines[resource.spec.engine].port };
    this.credentialsSecret = resource.spec.credentials?.secretName ?? names.credentials;
    const { tls } = resource.spec;
    this.certificateSecret = tls?.mode === 'Off' ? undefined : (tls?.secretName ?? names.tls);
    this.systemSecret = names.system;
    rendererOf(resource)(this, resource);
  }
}
