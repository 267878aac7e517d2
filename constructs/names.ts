/**
 * The names of everything that belongs to a database. They follow from its name alone, never from a construct's path: a selector or a name that
 * moved would mean a new StatefulSet.
 */
export interface Names {
  /** StatefulSet, PodDisruptionBudget, NetworkPolicy and the Service that leads to the primary. */
  readonly database: string;
  /** Service that leads to the replicas. */
  readonly readOnly: string;
  /** Headless Service; ServiceAccount, Role and RoleBinding of the members. */
  readonly members: string;
  /** Patroni's scope, and the ConfigMap with start-up configuration and scripts. */
  readonly patroni: string;
  /** ConfigMap with Patroni's dynamic configuration, of which Patroni writes `initialize` and `history`. */
  readonly patroniConfig: string;
  /** ConfigMap that Patroni's leader keeps its lock in. Never ours. */
  readonly patroniLeader: string;
  /** ConfigMap that asks Patroni for a switchover. */
  readonly patroniFailover: string;
  /** ConfigMap that names the synchronous replicas. Never ours. */
  readonly patroniSync: string;
  /** CronJob, its claim and its ServiceAccount. */
  readonly backup: string;
  /** Secret that applications mount, unless the spec names an existing one. */
  readonly credentials: string;
  /** Secret with the passwords of the system. */
  readonly system: string;
  /** Secret with the certificate of the members and its key, unless the spec names an existing one. */
  readonly tls: string;
  /** Secret with the authority that signs that certificate. Mounted nowhere. */
  readonly tlsAuthority: string;
  /** ConfigMap with what the database ran on before; kept by the controller. */
  readonly history: string;
}

export function namesOf(database: string): Names {
  return {
    database,
    readOnly: `${database}-ro`,
    members: `${database}-members`,
    patroni: `${database}-patroni`,
    patroniConfig: `${database}-patroni-config`,
    patroniLeader: `${database}-patroni-leader`,
    patroniFailover: `${database}-patroni-failover`,
    patroniSync: `${database}-patroni-sync`,
    backup: `${database}-backup`,
    credentials: `${database}-credentials`,
    system: `${database}-system`,
    tls: `${database}-tls`,
    tlsAuthority: `${database}-tls-ca`,
    history: `${database}-history`,
  };
}

/** Name of the claim template; a member's claim is `data-<name>-<ordinal>`. */
export const dataVolume = 'data';

/** The most members that a database can have: rights that name objects name them for all of these. */
export const maxMembers = 10;

/** Pod of a member. */
export function memberName(database: string, ordinal: number): string {
  return `${database}-${ordinal}`;
}

/** Claim of a member. */
export function claimName(database: string, ordinal: number): string {
  return `${dataVolume}-${memberName(database, ordinal)}`;
}

/** All the ordinals that there can ever be. */
export const ordinals: readonly number[] = Array.from({ length: maxMembers }, (_, ordinal) => ordinal);

/** Pods of all the members that there can ever be, in the order of their ordinals. */
export function memberNames(database: string): readonly string[] {
  return ordinals.map((ordinal) => memberName(database, ordinal));
}
