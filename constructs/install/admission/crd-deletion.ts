import type { Construct } from 'constructs';
import { group, plural } from '../../api/resource.ts';
import { policy } from './policy.ts';

/** On the CustomResourceDefinition, with the value `true`: it may be deleted, and all databases with it. */
export const deleteAllAnnotation = `${group}/delete-all-databases`;

const definition = `${plural}.${group}`;

/**
 * Refuses the deletion of the CRD, by whoever it is: the API server then deletes each DatabaseService itself, which no admission is asked about,
 * and the garbage collector all that they own.
 */
export function crdDeletion(scope: Construct): void {
  policy(scope, {
    name: `crd-deletion.${group}`,
    matches: {
      apiGroups: ['apiextensions.k8s.io'],
      apiVersions: ['*'],
      resources: ['customresourcedefinitions'],
      operations: ['DELETE'],
    },
    // Not by resourceNames, which a deletion of all at once does not have.
    conditions: [{ name: 'is-database-service', expression: `oldObject.metadata.name == '${definition}'` }],
    validation: {
      expression: `oldObject.metadata.?annotations['${deleteAllAnnotation}'].orValue('') == 'true'`,
      message: `this deletes every database in the cluster. If that is wanted: kubectl annotate crd ${definition} ${deleteAllAnnotation}=true`,
      reason: 'Forbidden',
    },
    action: 'Deny',
  });
}
