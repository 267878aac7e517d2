/** Names of the roles that the system uses. */
export const systemRoles = {
  superuser: 'postgres',
  replication: 'plumbline_replication',
  rewind: 'plumbline_rewind',
  /** Of the exporter; there where the database is monitored. */
  monitoring: 'plumbline_monitoring',
} as const;
