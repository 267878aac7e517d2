import type { Node } from './schema-node.ts';

const text: Node = { type: 'string' };
const flag: Node = { type: 'boolean' };
const number: Node = { type: 'integer' };
const strings: Node = { type: 'object', additionalProperties: text };

/** The fields of ObjectMeta and their types. Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go */
export const metadataSchema: Node = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    labels: strings,
    annotations: strings,
    finalizers: { type: 'array', items: text },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: { apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag },
      },
    },
    uid: text,
    resourceVersion: text,
    generation: number,
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: number,
    selfLink: text,
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time: text,
          fieldsType: text,
          fieldsV1: { 'x-kubernetes-preserve-unknown-fields': true },
          subresource: text,
        },
      },
    },
  },
};
