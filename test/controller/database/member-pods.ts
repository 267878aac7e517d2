import { engines } from '../../../constructs/engine.ts';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { document } from '../../../controller/database/document.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';

/** What of a member's pod is not as on one that is ready, of the newest template, streams and has read the settings. */
export interface MemberPod {
  readonly isPrimary?: boolean;
  readonly isReady?: boolean;
  /** Digest of the template that it was made from. */
  readonly template?: string | undefined;
  /** By what it had been asked to make the members again when it was made. Defaults to what the database asks by. */
  readonly restartedAt?: string | undefined;
  /** What Patroni says on it, over that its server runs, and of a replica that it streams. */
  readonly status?: object;
  /** What its steward says on it, over that it has read the settings and nothing waits. */
  readonly settings?: object;
  /** Its logical slots, as its steward states them. */
  readonly slots?: object;
  /** Why its start gate holds it. */
  readonly gate?: object;
  /** What the kubelet says of its containers. */
  readonly containers?: readonly object[];
}

/** The pod of a member, as the API server shows it. */
export function memberPod(database: StoredDatabaseService, ordinal: number, pod: MemberPod = {}): KubeObject {
  const { name, namespace } = database.metadata;
  const { isPrimary = false, isReady = true, status, settings, slots, gate, containers = [] } = pod;
  const engine = engines[database.spec.engine];
  const streams = isPrimary ? {} : { replication_state: 'streaming' };
  const read = { digest: engine.settingsDigest(document(database)), refused: {}, restart: {} };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${ordinal}`,
      namespace,
      uid: `uid-${ordinal}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'plumbline.dev/database': name, 'plumbline.dev/role': isPrimary ? 'primary' : 'replica' },
      annotations: {
        status: JSON.stringify({ state: 'running', xlog_location: 100, ...streams, ...status }),
        'plumbline.dev/settings': JSON.stringify({ ...read, ...settings }),
        ...(slots === undefined ? {} : { 'plumbline.dev/slots': JSON.stringify(slots) }),
        ...(gate === undefined ? {} : { 'plumbline.dev/start': JSON.stringify(gate) }),
        ...asked('restartedAt' in pod ? pod.restartedAt : restartedAtOf(database)),
        'plumbline.dev/template': pod.template ?? engine.templateDigest(document(database)),
      },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: containers,
    },
  };
}

/** The StatefulSet of a database, with all its pods. @param template digest of its template; defaults to the newest */
export function memberSet(database: StoredDatabaseService, template?: string): KubeObject {
  const { name, namespace } = database.metadata;
  const { replicas, engine } = database.spec;
  const digest = template ?? engines[engine].templateDigest(document(database));
  const annotations = { ...asked(restartedAtOf(database)), 'plumbline.dev/template': digest };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace, uid: 'uid-set', generation: 1, labels: { 'plumbline.dev/database': name } },
    spec: { replicas, template: { metadata: { annotations } } },
    status: { observedGeneration: 1, replicas },
  };
}

function asked(restartedAt: string | undefined): object {
  return restartedAt === undefined ? {} : { 'plumbline.dev/restarted-at': restartedAt };
}

function restartedAtOf({ metadata }: StoredDatabaseService): string | undefined {
  return metadata.annotations?.['plumbline.dev/restarted-at'];
}
