import { isFields } from './value.ts';

/**
 * What the API server fills in below `spec` of the kinds that we render, where nothing is stated. Whoever creates an object, or replaces it, owns
 * these fields too, and has added nothing by that. Source: the defaults of k8s.io/kubernetes pkg/apis (core/v1, apps/v1, batch/v1,
 * networking/v1); each was seen on 1.36.
 */
const defaults: Readonly<Record<string, readonly unknown[]>> = {
  dnsPolicy: ['ClusterFirst'],
  restartPolicy: ['Always'],
  schedulerName: ['default-scheduler'],
  terminationGracePeriodSeconds: [30],
  enableServiceLinks: [true],
  imagePullPolicy: ['Always', 'IfNotPresent'],
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
  timeoutSeconds: [1],
  periodSeconds: [10],
  successThreshold: [1],
  failureThreshold: [3],
  scheme: ['HTTP'],
  protocol: ['TCP'],
  defaultMode: [0o644],
  expirationSeconds: [3600],
  apiVersion: ['v1'],
  divisor: ['0'],
  type: ['ClusterIP', 'RollingUpdate', ''],
  internalTrafficPolicy: ['Cluster'],
  ipFamilyPolicy: ['SingleStack'],
  sessionAffinity: ['None'],
  podManagementPolicy: ['OrderedReady'],
  revisionHistoryLimit: [10],
  partition: [0],
  whenDeleted: ['Retain'],
  whenScaled: ['Retain'],
  concurrencyPolicy: ['Allow'],
  successfulJobsHistoryLimit: [3],
  failedJobsHistoryLimit: [1],
  suspend: [false],
};

/** What is allocated to a Service, and the old name of serviceAccountName, which always says the same. */
const derived: ReadonlySet<string> = new Set([
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'nodePort',
  'healthCheckNodePort',
  'serviceAccount',
]);

/**
 * Whether a field says no more than the API server would have said: an addition of that changes nothing. A 0 or false is stored only where it says
 * something else than its absence (`runAsUser: 0`), so it is a default where it is listed alone.
 */
export function isDefault(name: string, value: unknown): boolean {
  if (value === undefined || value === null || derived.has(name)) return true;
  if (Array.isArray(value) && value.length === 0) return true;
  if (isFields(value)) return Object.entries(value).every(([below, one]) => isDefault(below, one));
  return defaults[name]?.includes(value) === true;
}
