import { parseArgs } from 'node:util';
import { App, Chart } from 'cdk8s';
import { serialize } from '../serialize.ts';
import { DatabaseApplicationSet } from './application-set.ts';
import { ArgoCustomizations } from './customizations.ts';

const usage = `npm run argocd -- --url URL [--branch NAME] [--cluster-name NAME] [--argo-namespace NAME]
                  [--project NAME] [--on-delete Retain|Delete] [--no-self-heal]

Prints what Argo CD needs to sync databases from Git, for kubectl apply --server-side: its settings, and an ApplicationSet.
The constructs of the library make the same, with more options.

  --url URL              the repository, as it stands in Argo CD's settings
  --branch NAME          (default: main)
  --cluster-name NAME    the folder of the cluster in it, clusters/<name>/ (default: default)
  --argo-namespace NAME  where Argo CD runs (default: argocd)
  --project NAME         AppProject (default: default)
  --on-delete Retain     what becomes of a database in the cluster whose folder has gone (default: Retain)
  --no-self-heal         for databases with delivery.apply: true, which Plumbline heals

Exit codes: 0 printed; 2 wrong usage.
`;

function print(argv: readonly string[]): void {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      url: { type: 'string' },
      branch: { type: 'string' },
      'cluster-name': { type: 'string' },
      'argo-namespace': { type: 'string' },
      project: { type: 'string' },
      'on-delete': { type: 'string', default: 'Retain' },
      'no-self-heal': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const { url, branch, project, 'argo-namespace': argoNamespace, 'on-delete': onDelete } = values;
  if (url === undefined) throw new RangeError('--url is missing');
  if (onDelete !== 'Retain' && onDelete !== 'Delete') throw new RangeError('--on-delete is Retain or Delete');
  const chart = new Chart(new App(), 'argocd', { disableResourceNameHashes: true });
  new ArgoCustomizations(chart, 'settings', { ...(argoNamespace !== undefined && { argoNamespace }) });
  new DatabaseApplicationSet(chart, 'databases', {
    repository: { url, ...(branch !== undefined && { branch }) },
    onDelete,
    selfHeal: !values['no-self-heal'],
    ...(values['cluster-name'] !== undefined && { clusterName: values['cluster-name'] }),
    ...(argoNamespace !== undefined && { argoNamespace }),
    ...(project !== undefined && { project }),
  });
  process.stdout.write((chart.toJson() as readonly object[]).map(serialize).join('---\n'));
}

try {
  print(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 2;
}
