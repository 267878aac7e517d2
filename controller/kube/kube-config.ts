/**
 * client-node's reader of kubeconfigs, in a module of its own: imported when there is one to read and not before, since it is a tenth of what the
 * controller would keep in memory, and a pod has none. Of `import('@kubernetes/client-node')` the bundler would take everything.
 */
export { KubeConfig } from '@kubernetes/client-node';
