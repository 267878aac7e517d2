/** Names of the roles that the system uses. */
export const systemRoles = {
  superuser: 'postgres',
  replication: 'plumbline_replication',
  rewind: 'plumbline_rewind',
} as const;
