import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { containerSecurity, podSecurity } from '../../constructs/postgresql/pod-security.ts';
import { pods } from '../../controller/database/kinds.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import type { Report } from './report.ts';
import type { Target } from './target.ts';
import { waitFor } from './wait.ts';

const pod = 'psql';
const question = 'select version()';
/**
 * What an application does: the password comes from the mounted Secret, and is in no argument. A Service that was just made leads nowhere for a
 * moment.
 */
const script = `
read -d '' -r PGPASSWORD </credentials/password
export PGPASSWORD PGSSLMODE=require
until pg_isready -q -h "$1"; do sleep 0.5; done
exec psql -X --pset=pager=off -h "$1" -U "$(</credentials/username)" -d "$(</credentials/dbname)" -c "$2"`;

/**
 * A session of psql as an application has it: in a pod that mounts the Secret, through the Service.
 *
 * @returns what PostgreSQL says it is
 * @throws Error with what psql said when it fails
 */
export async function askVersion(
  target: Target,
  { metadata, spec }: DatabaseServiceDocument,
  report: Report,
): Promise<string> {
  const { kube } = target;
  const { name, namespace = '' } = metadata;
  const ref = { namespace, name: pod };
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: ref,
    spec: {
      restartPolicy: 'Never',
      securityContext: podSecurity,
      containers: [
        {
          name: pod,
          image: spec.image,
          command: ['bash', '-c', script, pod, name, question],
          securityContext: containerSecurity,
          volumeMounts: [{ name: 'credentials', mountPath: '/credentials', readOnly: true }],
        },
      ],
      volumes: [{ name: 'credentials', secret: { secretName: namesOf(name).credentials, defaultMode: 0o440 } }],
    },
  };
  await kube.create(manifest, { type: pods, fieldManager: 'plumbline-quickstart' });
  const phase = await waitFor(
    'psql has ended',
    async () => {
      const { status } = (await kube.get(pods, ref)) as KubeObject & { readonly status?: { readonly phase?: string } };
      return ['Succeeded', 'Failed'].includes(status?.phase ?? '') ? status?.phase : undefined;
    },
    target,
  );
  const output = String(await kube.raw(`/api/v1/namespaces/${namespace}/pods/${pod}/log`));
  const [version] = /PostgreSQL \d.*/.exec(output) ?? [];
  if (phase !== 'Succeeded' || version === undefined) throw new Error(`psql through Service ${name}: ${output.trim()}`);
  report.fact(`$ psql -h ${name} -U ${spec.username ?? 'app'} -d ${spec.database ?? 'app'} -c '${question}'`);
  report.fact(output.trimEnd());
  return version.trim();
}
