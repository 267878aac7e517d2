import type { KubeObject, ResourceType } from '../../../controller/kube/index.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const CONFIG_MAPS: ResourceType<ConfigMap> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
export const SECRETS: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
export const SERVICES: ResourceType = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true };
export const NAMESPACES: ResourceType = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
export const QUOTAS: ResourceType = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};
export const STATEFUL_SETS: ResourceType = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  namespaced: true,
};

export function configMap(
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: object = {},
): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data };
}
