import { argoCustomizations } from '../../constructs/argocd/customizations.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import { inArgoCd, type Request } from './runner.ts';

/** What Argo CD says of an object. */
export interface ArgoHealth {
  readonly status: 'Healthy' | 'Suspended' | 'Progressing' | 'Missing' | 'Degraded';
  readonly message?: string;
}

const worst = ['Healthy', 'Suspended', 'Progressing', 'Missing', 'Degraded'] as const;

/** The health that our customizations give an object. @throws Error with the words of the interpreter */
export async function healthOf(object: KubeObject, timeZone?: string): Promise<ArgoHealth> {
  const [group] = object.apiVersion.split('/');
  const script = argoCustomizations()[`resource.customizations.health.${group}_${object.kind}`];
  if (script === undefined) throw new Error(`There is no customization for ${object.kind}.`);
  return judged({ script, object }, timeZone);
}

/** The health that a script of Argo CD's own gives an object. */
export function builtInHealthOf(object: KubeObject): Promise<ArgoHealth> {
  return judged({ builtIn: `${object.apiVersion.split('/')[0]}/${object.kind}/health.lua`, object });
}

async function judged(request: Request, timeZone?: string): Promise<ArgoHealth> {
  const [answer] = await inArgoCd([request], timeZone);
  if (answer?.error !== undefined) throw new Error(answer.error);
  const health = answer?.value as ArgoHealth;
  // Argo CD takes anything else for Unknown.
  if (!worst.includes(health.status)) throw new Error(`${JSON.stringify(health)} is no health`);
  return health;
}

/**
 * The health of an Application: the worst of its objects. Those that say so don't count, nor do kinds of which Argo CD knows no health; a claim that waits
 * is Progressing to it.
 */
export async function applicationHealthOf(objects: readonly KubeObject[]): Promise<ArgoHealth['status']> {
  const counted = objects.filter(
    ({ metadata }) => metadata.annotations?.['argocd.argoproj.io/ignore-healthcheck'] !== 'true',
  );
  const all = await Promise.all(counted.map(statusOf));
  return worst[Math.max(0, ...all.map((status) => worst.indexOf(status)))] ?? 'Healthy';
}

async function statusOf(object: KubeObject): Promise<ArgoHealth['status']> {
  switch (object.kind) {
    case 'DatabaseService':
    case 'StatefulSet':
      return (await healthOf(object)).status;
    case 'CronJob':
      return (await builtInHealthOf(object)).status;
    case 'PersistentVolumeClaim': {
      const { phase } = object['status'] as { readonly phase: string };
      if (phase === 'Lost') return 'Degraded';
      return phase === 'Pending' ? 'Progressing' : 'Healthy';
    }
    default:
      return 'Healthy';
  }
}
