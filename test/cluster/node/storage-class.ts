import { nodeName } from './layout.ts';

/** The default class: a claim gets a file system of exactly the size that it asks for. */
export const storageClassName = 'plumbline-local';
export const provisionerName = 'plumbline.dev/local';

export function storageClass(): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: storageClassName,
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: provisionerName,
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
  };
}

export interface Claim {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly accessModes: readonly string[];
    readonly resources: { readonly requests: { readonly storage: string } };
  };
}

/** Whether Kubernetes waits for our provisioner to make a volume for the claim. */
export function isWaiting({ metadata, spec }: Claim): boolean {
  return (
    spec.volumeName === undefined &&
    metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] === provisionerName
  );
}

export function volumeName(claim: Claim): string {
  return `pvc-${claim.metadata.uid}`;
}

/** The volume for a claim. @param path of the mounted file system, on the node */
export function volumeFor(claim: Claim, path: string, reclaimPolicy: string): object {
  const { name, namespace, uid } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeName(claim),
      annotations: { 'pv.kubernetes.io/provisioned-by': provisionerName },
    },
    spec: {
      capacity: { storage: claim.spec.resources.requests.storage },
      accessModes: claim.spec.accessModes,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: claim.spec.storageClassName,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
          ],
        },
      },
    },
  };
}

const units: Readonly<Record<string, number>> = {
  '': 2 ** -20,
  k: 1e3 / 2 ** 20,
  M: 1e6 / 2 ** 20,
  G: 1e9 / 2 ** 20,
  T: 1e12 / 2 ** 20,
  Ki: 2 ** -10,
  Mi: 1,
  Gi: 2 ** 10,
  Ti: 2 ** 20,
};

/** A quantity of storage in MiB, rounded up. @throws when it is written in another way than volumes usually are. */
export function mebibytes(quantity: string): number {
  const [, number, unit = ''] = /^([\d.]+)([kMGT]|[KMGT]i)?$/.exec(quantity) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) throw new Error(`${quantity} is not a size of a volume.`);
  return Math.ceil(Number(number) * factor);
}
