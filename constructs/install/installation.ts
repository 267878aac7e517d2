import { Construct } from 'constructs';
import { access } from './access.ts';
import { deployment } from './deployment.ts';
import { disruption } from './disruption.ts';
import { metrics } from './metrics.ts';
import { namespace } from './namespace.ts';
import type { InstallationProps } from './options.ts';
import { settingsOf } from './settings.ts';

/**
 * The controller in a cluster, with all that it needs but the API itself, which is {@link DatabaseServiceApi}: that one stays when this one goes,
 * for deleting it deletes every database.
 *
 * @example
 * new Installation(chart, 'plumbline', {
 *   image: 'registry.example/plumbline-controller:0.1.0',
 *   watchNamespaces: ['shop', 'finance'],
 * });
 */
export class Installation extends Construct {
  /** Where the controller runs. */
  readonly namespace: string;

  /** @throws RangeError for options that no controller could start with */
  constructor(scope: Construct, id: string, props: InstallationProps = {}) {
    super(scope, id);
    const settings = settingsOf(props);
    this.namespace = settings.namespace;
    if (settings.createNamespace) namespace(this, settings);
    access(this, settings);
    metrics(this, settings);
    disruption(this, settings);
    deployment(this, settings);
  }
}
