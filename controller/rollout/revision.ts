import { apiVersion, kind } from '../../constructs/api/resource.ts';
import { isFields } from '../../constructs/api/schema-node.ts';
import type { StoredSpec } from '../../constructs/api/spec.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import { digestOf } from '../../constructs/digest.ts';

/** The fields of a spec that end up in the pod template: a change of them needs new pods. */
const templateFields = [
  'version',
  'renderer',
  'image',
  'resources',
  'scheduling',
  'credentials',
  'tls',
  'monitoring',
] as const satisfies readonly (keyof StoredSpec)[];

export type TemplateSpec = Pick<StoredSpec, (typeof templateFields)[number]>;

/** The part of a spec that members run on: what a rollout brings to them, and a rollback takes back. */
export interface Revision {
  readonly template: TemplateSpec;
  readonly parameters: NonNullable<StoredSpec['parameters']>;
}

export function revisionOf(spec: StoredSpec): Revision {
  const said = { ...spec, monitoring: exporterOf(spec) };
  const entries = templateFields.filter((field) => said[field] !== undefined).map((field) => [field, said[field]]);
  return { template: Object.fromEntries(entries) as TemplateSpec, parameters: spec.parameters ?? {} };
}

/** The spec with another revision in it: everything else stays as the user wrote it. */
export function withRevision(spec: StoredSpec, { template, parameters }: Revision): StoredSpec {
  const rest = Object.fromEntries(Object.entries(spec).filter(([field]) => !isOfRevision(field)));
  const settings = Object.keys(parameters).length === 0 ? {} : { parameters };
  const { from } = spec.monitoring ?? {};
  const scraped = template.monitoring && from ? { monitoring: { ...template.monitoring, from } } : {};
  return { ...rest, ...template, ...scraped, ...settings } as StoredSpec;
}

/** Whether something read from elsewhere is a revision that a database can run on: a spec with it is valid. */
export function isRevision(found: unknown): found is Revision {
  if (!isFields(found) || !isFields(found['template']) || !isFields(found['parameters'])) return false;
  const { template, parameters } = found;
  if (!Object.keys(template).every((field) => templateFields.some((one) => one === field))) return false;
  const spec = { engine: 'postgresql', replicas: 1, storage: { size: '1Gi' }, ...template, parameters };
  return validateResource({ apiVersion, kind, metadata: { name: 'any', namespace: 'any' }, spec }).length === 0;
}

/** Equal for revisions that say the same, whatever the order of their fields. */
export function revisionDigest({ template, parameters }: Revision): string {
  return digestOf([template, parameters]);
}

export function isSameTemplate(a: TemplateSpec, b: TemplateSpec): boolean {
  return digestOf(a) === digestOf(b);
}

/** Of monitoring only what the pods are made from: who may scrape is none of it, and monitoring that is off is none at all. */
function exporterOf({ monitoring }: StoredSpec): TemplateSpec['monitoring'] {
  if (monitoring?.enabled !== true) return undefined;
  const { from: _, ...exporter } = monitoring;
  return exporter;
}

function isOfRevision(field: string): boolean {
  return field === 'parameters' || templateFields.some((one) => one === field);
}
