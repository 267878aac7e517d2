import { namesOf } from './names.ts';

/** Selects everything that belongs to a database but the pods of its backups; what the controller watches by. */
export const databaseLabel = 'plumbline.dev/database';
/** Role of a member: written by Patroni alone. */
export const roleLabel = 'plumbline.dev/role';
/** How Patroni finds its pods and ConfigMaps, and what it stamps on those that it makes. Its value is Patroni's scope. */
export const patroniLabel = 'plumbline.dev/patroni';
/** On the pods of a backup, which no selector of the members may match. */
export const backupLabel = 'plumbline.dev/backup';
/** On the members of a database that is monitored: what scrapers find them by. In no selector of ours. */
export const monitoredLabel = 'plumbline.dev/monitored';

export const primaryRole = 'primary';
export const replicaRole = 'replica';

/** The system identifier of the data on a claim: written by the members, read by the start gate. */
export const identityAnnotation = 'plumbline.dev/system-identifier';
/** Disk, WAL and slot use of a member in coarse steps: JSON, written by its steward. */
export const usageAnnotation = 'plumbline.dev/usage';
/** Why a member does not start: JSON `{reason, message}`, written by its start gate. */
export const startAnnotation = 'plumbline.dev/start';
/** Which certificate a member serves: JSON `{serial, notBefore, notAfter, problem}`, written by its steward. */
export const tlsAnnotation = 'plumbline.dev/tls';
/** From when until when the certificate in a Secret of ours holds. Where one is missing, the certificate is renewed. */
export const notBeforeAnnotation = 'plumbline.dev/not-before';
export const notAfterAnnotation = 'plumbline.dev/not-after';
/** What a member makes of the settings: JSON `{digest, refused, restart}`, written by its steward. */
export const settingsAnnotation = 'plumbline.dev/settings';
/** The logical slots of a member: JSON `{own: [{name, database, plugin, failover}], synced: [name]}`, written by its steward. */
export const slotsAnnotation = 'plumbline.dev/slots';
/** Asks a member to restart its server for settings that wait for it: their digest, and what tells one need from another. Written by the controller. */
export const askedRestartAnnotation = 'plumbline.dev/restart';
/** The versions of the Secrets that a member is to have mounted, by name: JSON. Written by the controller, for a change makes the kubelet look at once. */
export const secretsAnnotation = 'plumbline.dev/secrets';
/** On a request for a switchover, with the name of its candidate: whoever is in step may take over. Read by the steward of the primary. */
export const anyoneAnnotation = 'plumbline.dev/anyone';
/** On a DatabaseService: the number of an entry of its history that is to be in force instead of what the spec says. */
export const rollbackAnnotation = 'plumbline.dev/rollback-to';
/** On a DatabaseService: the names of logical slots that a switchover may lose, with commas between them. */
export const loseSlotsAnnotation = 'plumbline.dev/lose-slots';
/** On a DatabaseService that is being deleted, with the value `true`: its files in Git stay there, and it does not wait for them. */
export const leaveGitAnnotation = 'plumbline.dev/leave-git';
/**
 * On a DatabaseService, and so on its members and their template: whoever gives it another value, the time for example, has every member made
 * again, replicas first. To take it away restarts nobody.
 */
export const restartedAtAnnotation = 'plumbline.dev/restarted-at';
/** Key of the ConfigMap `<name>-history` that holds the history. */
export const historyKey = 'history.json';
/** Of the same ConfigMap: digests of the objects that were applied, by their keys. */
export const appliedKey = 'applied.json';
/** On a pod and its template: the digest of the template as it is rendered. */
export const templateAnnotation = 'plumbline.dev/template';
/** State of a member: JSON, written by Patroni. */
export const memberStatusAnnotation = 'status';

type Labels = Readonly<Record<string, string>>;

/** The members of a database. */
export function memberSelector(database: string): Labels {
  return { [databaseLabel]: database };
}

/** The members of a database that have a role now. */
export function roleSelector(database: string, role: typeof primaryRole | typeof replicaRole): Labels {
  return { [databaseLabel]: database, [roleLabel]: role };
}

/** The pods of a database's backups. */
export function backupSelector(database: string): Labels {
  return { [backupLabel]: database };
}

/** What Patroni finds its objects by; a ConfigMap that is to reach it, such as a switchover, carries this. */
export function patroniLabels(database: string): Labels {
  return { [patroniLabel]: namesOf(database).patroni };
}

/** Marks what Plumbline renders. */
export const managedBy: Labels = { 'app.kubernetes.io/managed-by': 'plumbline' };

/**
 * Labels for people and dashboards, in no selector. Not for claims and Secrets: a GitOps tool that tracks by `instance` would take them for its
 * own and delete them with an application of that name (argo-cd#5431).
 */
export function informativeLabels(database: string, component: 'database' | 'backup', version?: string): Labels {
  return {
    'app.kubernetes.io/name': 'postgresql',
    'app.kubernetes.io/instance': database,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'plumbline',
    ...(version === undefined ? {} : { 'app.kubernetes.io/version': version }),
    ...managedBy,
  };
}
