import { defaultImage, defaultImageWithGit } from './image.ts';
import type { InstallationProps } from './options.ts';

/** Name of the Deployment and of what belongs to it, of its container and of the lease. */
export const controllerName = 'plumbline-controller';

/** The options of an installation, with the defaults in the place of what was left out. */
export interface Settings extends InstallationProps {
  readonly namespace: string;
  readonly createNamespace: boolean;
  /** Empty for all. */
  readonly watchNamespaces: readonly string[];
  /** Name of what has no namespace: of the installation that looks after all of them there is one. */
  readonly globalName: string;
  readonly gitDestinations: boolean;
  readonly image: string;
  readonly replicas: number;
  readonly logLevel: NonNullable<InstallationProps['logLevel']>;
  readonly resources: NonNullable<InstallationProps['resources']>;
  readonly metricsAuth: NonNullable<InstallationProps['metricsAuth']>;
  readonly metricsFrom: NonNullable<InstallationProps['metricsFrom']>;
}

/** @throws RangeError for options that no controller could start with */
export function settingsOf(props: InstallationProps): Settings {
  const { namespace = 'plumbline-system', watchNamespaces, replicas = 2, workers = 8, environment = {} } = props;
  if (watchNamespaces?.length === 0) throw new RangeError('watchNamespaces is empty: leave it out to watch all');
  const twice = watchNamespaces?.find((name, index) => watchNamespaces.indexOf(name) < index);
  if (twice !== undefined) throw new RangeError(`watchNamespaces has ${twice} twice`);
  for (const name of [namespace, ...(watchNamespaces ?? [])]) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) throw new RangeError(`"${name}" is no name of a namespace`);
  }
  if (!Number.isInteger(replicas) || replicas < 0) throw new RangeError(`replicas is ${replicas}: a whole number`);
  if (!Number.isInteger(workers) || workers < 1 || workers > 64) {
    throw new RangeError(`workers is ${workers}: a whole number from 1 to 64`);
  }
  const taken = Object.keys(environment).find((name) => name === 'HOME' || name.startsWith('PLUMBLINE_'));
  if (taken !== undefined) throw new RangeError(`environment has ${taken}, which the other options set`);
  return {
    createNamespace: true,
    image: props.git === undefined && props.gitDestinations !== true ? defaultImage : defaultImageWithGit,
    gitDestinations: watchNamespaces === undefined,
    logLevel: 'info',
    resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '512Mi' } },
    metricsAuth: 'Tokens',
    metricsFrom: [{ podSelector: {} }],
    ...props,
    namespace,
    watchNamespaces: watchNamespaces ?? [],
    globalName: watchNamespaces === undefined ? controllerName : `${controllerName}-${namespace}`,
    replicas,
  };
}
