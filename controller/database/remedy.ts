import type { KubeObject } from '../kube/index.ts';

/**
 * What a person does about an object of which Kubernetes lets nobody change a field: a sentence with the command, word by word. A StatefulSet goes
 * without its members, which the next one takes on. Pure.
 *
 * @returns undefined for what holds something that nobody could make again
 */
export function remedyFor({ kind, metadata }: KubeObject): string | undefined {
  if (isPrecious({ kind })) return undefined;
  const { name, namespace } = metadata;
  const alone = kind === 'StatefulSet' ? ' --cascade=orphan' : '';
  const command = `kubectl -n ${namespace} delete ${kind.toLowerCase()} ${name}${alone}`;
  return `Kubernetes lets nobody change that. Run \`${command}\`, and Plumbline makes it again.`;
}

/** Whether an object holds what nobody could make again: passwords, or data. That it may go is never advised. */
export function isPrecious({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind === 'Secret' || kind === 'PersistentVolumeClaim';
}
