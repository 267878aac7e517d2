import type { Construct } from 'constructs';
import { access, backupAccess } from './access.ts';
import { backupClaim, backupSchedule } from './backup.ts';
import type { Database } from './defaults.ts';
import { disruption } from './disruption.ts';
import { networkPolicy } from './network-policy.ts';
import { patroniConfiguration } from './patroni-configuration.ts';
import { services } from './services.ts';
import { workload } from './workload.ts';

/** Everything that a database needs, in the order of apply: access and configuration, services, the members, the rest. */
export function postgresql(scope: Construct, database: Database): void {
  const { backup } = database;
  access(scope, database);
  if (backup) backupAccess(scope, database);
  networkPolicy(scope, database);
  patroniConfiguration(scope, database);
  services(scope, database);
  workload(scope, database);
  disruption(scope, database);
  if (backup) {
    backupClaim(scope, database, backup);
    backupSchedule(scope, database, backup);
  }
}
