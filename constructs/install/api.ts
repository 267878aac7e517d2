import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { Construct } from 'constructs';
import { customResourceDefinition } from '../api/crd.ts';
import { gitDestinationDefinition } from '../api/git-destination/crd.ts';
import { emit, type Emitted } from '../emit.ts';
import { crdDeletion } from './admission/crd-deletion.ts';
import { deletionProtection } from './admission/deletion-protection.ts';
import { unsupportedVersion } from './admission/unsupported-version.ts';

/**
 * The kinds DatabaseService and GitDestination in a cluster: their definitions, and what the API server asks of requests beyond that. It has no options, holds for the
 * whole cluster, and works without a controller.
 */
export class DatabaseServiceApi extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const definition = customResourceDefinition() as unknown as Emitted<V1CustomResourceDefinition>;
    emit<V1CustomResourceDefinition>(this, 'definition', definition);
    const destinations = gitDestinationDefinition() as unknown as Emitted<V1CustomResourceDefinition>;
    emit<V1CustomResourceDefinition>(this, 'git-destinations', destinations);
    crdDeletion(this);
    deletionProtection(this);
    unsupportedVersion(this);
  }
}
