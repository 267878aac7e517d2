import type { Construct } from 'constructs';
import type { DatabaseServiceDocument } from './api/resource.ts';
import { postgresqlEngine } from './postgresql/engine.ts';

/** Adds everything of a database to the construct tree, in the order of apply. The resource is valid. */
export type Renderer = (scope: Construct, resource: DatabaseServiceDocument) => void;

/** What is an engine's own: an engine is added here and not threaded through. */
export interface Engine {
  readonly name: DatabaseServiceDocument['spec']['engine'];
  /** Port that applications connect to. */
  readonly port: number;
  /** Pod label that tells a member's role, with its values. */
  readonly roleLabel: string;
  readonly primaryRole: string;
  readonly replicaRole: string;
  /** Pod annotation in which a member states itself, as JSON. */
  readonly memberStatusAnnotation: string;
  /** What a pod bears that was made from the template of a spec. */
  readonly templateDigest: (resource: DatabaseServiceDocument) => string;
  /** Names the settings that a spec means, as a member does that has read them. */
  readonly settingsDigest: (resource: DatabaseServiceDocument) => string;
  /** By `spec.renderer`. The output of a released renderer never changes: a new release of Plumbline restarts no database. */
  readonly renderers: Readonly<Record<number, Renderer>>;
}

export const engines: Readonly<Record<DatabaseServiceDocument['spec']['engine'], Engine>> = {
  postgresql: postgresqlEngine,
};

/** The renderer that a spec asks for. Absent is the first, for ever. */
export function rendererOf({ spec }: DatabaseServiceDocument): Renderer {
  const engine = engines[spec.engine];
  const renderer = engine.renderers[spec.renderer ?? 1];
  if (renderer === undefined)
    throw new RangeError(
      `spec.renderer: ${spec.renderer} is not known to this release; known: ${Object.keys(engine.renderers).join(', ')}`,
    );
  return renderer;
}
