import { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { applicationAnnotations, applicationSpec, argoApiVersion, argoGroup } from './application-spec.ts';
import type { ArgoApplicationOptions } from './options.ts';

/** An Application of Argo CD over one folder of a repository. */
export interface ArgoApplicationProps extends ArgoApplicationOptions {
  /** Name of the Application. */
  readonly name: string;
  /** Folder in the repository, such as `dist/crds`. */
  readonly path: string;
  /** For objects that name no namespace. Defaults to none. */
  readonly namespace?: string;
  /** Its turn among the Applications of a folder that Argo CD applies; lower first. Defaults to 0. */
  readonly syncWave?: number;
  /**
   * What becomes of the objects when the Application is deleted. Retain (default): they stay. Delete: they go, but for those that say otherwise
   * themselves, as CustomResourceDefinitions and claims do.
   */
  readonly onDelete?: 'Retain' | 'Delete';
}

/** Argo CD's own finalizer: an Application that has it takes its objects with it, and goes after them. */
export const resourcesFinalizer = `resources-finalizer.${argoGroup}/foreground`;

/**
 * Has Argo CD keep a folder of manifests in a cluster, by server-side apply: the API, the controller, or the DatabaseServices themselves.
 *
 * @example
 * new ArgoApplication(chart, 'api', { name: 'plumbline-api', path: 'dist/crds', syncWave: -2, repository });
 */
export class ArgoApplication extends Construct {
  /** @throws RangeError for a path that leaves the repository */
  constructor(scope: Construct, id: string, props: ArgoApplicationProps) {
    super(scope, id);
    const { name, path, namespace, syncWave = 0, argoNamespace = 'argocd', onDelete = 'Retain' } = props;
    if (!isInside(path)) throw new RangeError(`${this.node.path}: path ${path} is no folder inside a repository`);
    if (!Number.isInteger(syncWave)) throw new RangeError(`${this.node.path}: syncWave ${syncWave} is not whole`);
    emit(this, 'application', {
      apiVersion: argoApiVersion,
      kind: 'Application',
      metadata: {
        name,
        namespace: argoNamespace,
        annotations: { ...applicationAnnotations, [`${argoGroup}/sync-wave`]: String(syncWave) },
        finalizers: onDelete === 'Delete' ? [resourcesFinalizer] : undefined,
      },
      spec: applicationSpec(props, { path, namespace }),
    });
  }
}

/** Whether a path names a folder below the root of a repository, in one spelling. */
function isInside(path: string): boolean {
  return path
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && segment !== '.git');
}
