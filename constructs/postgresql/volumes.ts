import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';
import { askedRestartAnnotation } from '../labels.ts';
import { dataVolume } from '../names.ts';
import type { Database } from './defaults.ts';
import { sharedMemory } from './memory.ts';
import { paths } from './paths.ts';
import { memoryLimit } from './resources.ts';

type Volume = Json<V1Volume>;
type Mount = Json<V1VolumeMount>;

/** Readable by the group of the volume, which is that of the containers, and by nobody else. */
const secretMode = 0o440;
const scriptMode = 0o555;

/**
 * What grows with the data, such as sort files, lies on the data volume and never in an emptyDir: a limit that is reached evicts the pod
 * (CrunchyData/postgres-operator#4211).
 */
export function memberVolumes(database: Database): readonly Volume[] {
  const { names } = database;
  return [
    { name: 'scripts', configMap: { name: names.patroni, defaultMode: scriptMode, optional: false } },
    {
      name: 'credentials',
      secret: {
        secretName: database.credentialsSecret,
        items: [{ key: 'password', path: 'password' }],
        defaultMode: secretMode,
        optional: false,
      },
    },
    { name: 'system', secret: { secretName: names.system, defaultMode: secretMode, optional: false } },
    ...tlsVolume(database),
    {
      name: 'asked',
      downwardAPI: {
        items: [
          {
            path: 'restart',
            fieldRef: { apiVersion: 'v1', fieldPath: `metadata.annotations['${askedRestartAnnotation}']` },
          },
        ],
        defaultMode: 0o444,
      },
    },
    ...(database.monitoring ? [memory('monitoring', '1Mi'), memory('no-token', '1Mi')] : []),
    memory('run', '16Mi'),
    memory('socket', '1Mi'),
    memory('shm', sharedMemory(memoryLimit(database.resources))),
    { name: 'tmp', emptyDir: { sizeLimit: '128Mi' } },
  ];
}

/** Optional: where the Secret is not there yet, the start gate says so by its name, which the kubelet would say in an event of the pod only. */
function tlsVolume({ tlsSecret }: Database): readonly Volume[] {
  if (tlsSecret === undefined) return [];
  return [{ name: 'tls', secret: { secretName: tlsSecret, defaultMode: secretMode, optional: true } }];
}

export function postgresMounts(database: Database): readonly Mount[] {
  return [
    mount(dataVolume, paths.volume, false),
    mount('scripts', paths.scripts, true),
    mount('system', paths.system, true),
    ...tlsMount(database),
    mount('run', paths.run, false),
    mount('socket', paths.socket, false),
    mount('shm', '/dev/shm', false),
    mount('tmp', '/tmp', false),
  ];
}

export function stewardMounts(database: Database): readonly Mount[] {
  return [
    mount(dataVolume, paths.volume, true),
    mount('scripts', paths.scripts, true),
    mount('credentials', paths.credentials, true),
    mount('system', paths.system, true),
    ...tlsMount(database),
    mount('socket', paths.socket, true),
    mount('asked', paths.asked, true),
    ...(database.monitoring ? [mount('monitoring', paths.monitoring, false)] : []),
  ];
}

/**
 * No socket, for whoever runs in the pod is the superuser there; and in the place of the token of the members an empty folder, so that none is mounted.
 * Source: Kubernetes, plugin/pkg/admission/serviceaccount/admission.go, `mountServiceAccountToken`
 */
export function exporterMounts(): readonly Mount[] {
  return [
    mount('scripts', paths.scripts, true),
    mount('monitoring', paths.monitoring, true),
    mount('no-token', paths.token, true),
  ];
}

function tlsMount({ tlsSecret }: Database): readonly Mount[] {
  return tlsSecret === undefined ? [] : [mount('tls', paths.tls, true)];
}

export function mount(name: string, mountPath: string, readOnly: boolean): Mount {
  return { name, mountPath, readOnly };
}

export function memory(name: string, sizeLimit: string): Volume {
  return { name, emptyDir: { medium: 'Memory', sizeLimit } };
}
