import type { V1NetworkPolicy, V1NetworkPolicyPeer } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit, type Json } from '../emit.ts';
import { backupSelector, databaseLabel, informativeLabels, memberSelector } from '../labels.ts';
import { defaults, type Database } from './defaults.ts';

type Peer = Json<V1NetworkPolicyPeer>;

/**
 * PostgreSQL is open to those whom the spec names, to the members and to backups; Patroni's REST API to the members and to those who may scrape, for
 * its metrics are there. What it would change something for, it asks a password for.
 */
export function networkPolicy(scope: Construct, database: Database): void {
  const { name, namespace, names, monitoring } = database;
  const members: Peer = { podSelector: { matchLabels: memberSelector(name) } };
  const backups: readonly Peer[] = database.backup ? [{ podSelector: { matchLabels: backupSelector(name) } }] : [];
  emit<V1NetworkPolicy>(scope, 'network-policy', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: names.database,
      namespace,
      labels: { ...informativeLabels(name, 'database'), [databaseLabel]: name },
    },
    spec: {
      ingress: [
        { from: [...database.access, members, ...backups], ports: [{ port: defaults.port, protocol: 'TCP' }] },
        { from: [members], ports: [{ port: defaults.restPort, protocol: 'TCP' }] },
        ...(monitoring ? [{ from: monitoring.from, ports: metricsPorts }] : []),
      ],
      podSelector: { matchLabels: memberSelector(name) },
      policyTypes: ['Ingress'],
    },
  });
}

const metricsPorts = [defaults.restPort, defaults.exporterPort].map((port) => ({ port, protocol: 'TCP' }));
