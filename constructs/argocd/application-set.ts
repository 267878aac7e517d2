import { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { resourcesFinalizer } from './application.ts';
import { applicationAnnotations, applicationSpec, argoApiVersion, revision } from './application-spec.ts';
import type { ArgoApplicationOptions } from './options.ts';

/** An Application for every database that the controller has committed. */
export interface DatabaseApplicationSetProps extends ArgoApplicationOptions {
  /** The name of the cluster in the repository: what the controller is started with. Defaults to `default`. */
  readonly clusterName?: string;
  /** Name of the ApplicationSet. Defaults to `databases-<clusterName>`. */
  readonly name?: string;
  /**
   * What becomes of a database in the cluster when its folder has gone from Git, or the ApplicationSet is deleted. Retain (default): it stays, with
   * its Application, until somebody deletes them; a branch that was emptied by mistake takes nothing down. Delete: it goes; its claims stay.
   */
  readonly onDelete?: 'Retain' | 'Delete';
}

/**
 * Has Argo CD sync what the controller commits: one Application for each folder `clusters/<clusterName>/<namespace>/<name>/`. Its name is
 * `<clusterName>.<namespace>.<name>`; with dots, which neither of the latter two can have, no two databases share one.
 *
 * @example
 * new DatabaseApplicationSet(chart, 'databases', {
 *   clusterName: 'prod',
 *   repository: { url: 'https://git.example/databases.git' },
 * });
 */
export class DatabaseApplicationSet extends Construct {
  /** @throws RangeError for a name of a cluster that is no name of a folder */
  constructor(scope: Construct, id: string, props: DatabaseApplicationSetProps) {
    super(scope, id);
    const { clusterName = 'default', argoNamespace = 'argocd', onDelete = 'Retain' } = props;
    if (clusterName.length > 63 || !clusterPattern.test(clusterName)) {
      throw new RangeError(`${this.node.path}: clusterName "${clusterName}" can be no part of an Application's name`);
    }
    const { name = `databases-${clusterName}` } = props;
    const isKept = onDelete === 'Retain';
    emit(this, 'application-set', {
      apiVersion: argoApiVersion,
      kind: 'ApplicationSet',
      metadata: { name, namespace: argoNamespace },
      spec: {
        goTemplate: true,
        goTemplateOptions: ['missingkey=error'],
        generators: [
          {
            git: {
              repoURL: props.repository.url,
              revision: revision(props),
              directories: [{ path: `clusters/${clusterName}/*/*` }],
            },
          },
        ],
        syncPolicy: { applicationsSync: isKept ? 'create-update' : 'sync', preserveResourcesOnDeletion: isKept },
        template: {
          metadata: {
            name: `${clusterName}.${segment(2)}.${segment(3)}`,
            annotations: applicationAnnotations,
            labels: { 'plumbline.dev/cluster': clusterName },
            finalizers: isKept ? undefined : [resourcesFinalizer],
          },
          spec: applicationSpec(props, { path: '{{ .path.path }}', namespace: segment(2) }),
        },
      },
    });
  }
}

/** What a folder may be called, as far as the name of an object may as well. */
const clusterPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A segment of the folder: 2 is the namespace, 3 the name. */
function segment(index: number): string {
  return `{{ index .path.segments ${index} }}`;
}
