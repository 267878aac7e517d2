import type { V1Service, V1ServiceSpec } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit, type Json } from '../emit.ts';
import { databaseLabel, informativeLabels, memberSelector, primaryRole, replicaRole, roleSelector } from '../labels.ts';
import { defaults, type Database } from './defaults.ts';

/**
 * The Services that lead to the primary and to the replicas, and the headless one of the members. No address family is stated: the cluster's
 * own order is right, and a Service that exists could not change it.
 */
export function services(scope: Construct, database: Database): void {
  const { name, names } = database;
  service(scope, 'primary-service', database, names.database, {
    selector: roleSelector(name, primaryRole),
    publishNotReadyAddresses: false,
    ports: [postgresql],
  });
  service(scope, 'replicas-service', database, names.readOnly, {
    selector: roleSelector(name, replicaRole),
    publishNotReadyAddresses: false,
    ports: [postgresql],
  });
  service(scope, 'members-service', database, names.members, {
    selector: memberSelector(name),
    clusterIP: 'None',
    // Members find each other before they are ready.
    publishNotReadyAddresses: true,
    ports: [postgresql, { name: 'patroni', port: defaults.restPort, protocol: 'TCP', targetPort: 'patroni' }],
  });
}

const postgresql = { name: 'postgresql', port: defaults.port, protocol: 'TCP', targetPort: 'postgresql' } as const;

function service(scope: Construct, id: string, database: Database, name: string, spec: Json<V1ServiceSpec>): void {
  emit<V1Service>(scope, id, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: database.namespace,
      labels: { ...informativeLabels(database.name, 'database'), [databaseLabel]: database.name },
    },
    spec: { internalTrafficPolicy: 'Cluster', sessionAffinity: 'None', type: 'ClusterIP', ...spec },
  });
}
