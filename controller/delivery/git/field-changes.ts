import { load, YAML11_SCHEMA } from 'js-yaml';
import { differences, hiddenValue, type Difference } from '../../drift/index.ts';
import type { KubeObject } from '../../kube/index.ts';

/**
 * In which fields two states of a file differ, in the notation of receipts and without what may be a secret. None where either is no manifest, or
 * they are not the same object: what others have written into a file of ours may be anything. Pure.
 */
export function fieldChanges(before: string, after: string): readonly Difference[] {
  const [was, now] = [manifestIn(before), manifestIn(after)];
  if (was === undefined || now === undefined) return [];
  if (was.kind !== now.kind || was.metadata.name !== now.metadata.name) return [];
  return differences(was, now).flatMap((one) => (one.field === settings ? ofSettings(was, now) : told(one)));
}

/** Patroni's settings in one line of JSON, of which the line would say nothing. */
const settings = 'metadata.annotations.config';

function ofSettings(was: KubeObject, now: KubeObject): readonly Difference[] {
  const [before, after] = [settingsOf(was), settingsOf(now)];
  return differences(before, after).map(({ field, was, now }) => ({
    field: `${settings}.${field}`,
    was: plain(field, was),
    now: plain(field, now),
  }));
}

function settingsOf({ metadata }: KubeObject): KubeObject {
  const parsed: unknown = JSON.parse(metadata.annotations?.['config'] ?? '{}');
  return { ...(parsed as object), apiVersion: '', kind: '', metadata: { name: '' } };
}

/** A number with a unit, or a switch, is no secret. A name with a dot in it is of an extension, and may mean a PIN by it. */
function plain(field: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return !field.includes('[') && /^(on|off|true|false|-?\d{1,12}(\.\d+)?[A-Za-z]{0,3})$/.test(value)
    ? value
    : hiddenValue;
}

/** The print of a pod template says nothing that the fields of the template do not say. */
function told(one: Difference): readonly Difference[] {
  return one.field.endsWith('[plumbline.dev/template]') ? [] : [one];
}

function manifestIn(text: string): KubeObject | undefined {
  try {
    const value = load(text, { schema: YAML11_SCHEMA });
    return isTree(value, new Set()) && isManifest(value) ? value : undefined;
  } catch {
    // Whoever edited it is told nothing by us; that the file was changed is in the message all the same.
    return undefined;
  }
}

/** A few aliases of aliases would be a text without end. We write none. */
function isTree(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (seen.has(value)) return false;
  seen.add(value);
  return Object.values(value).every((child) => isTree(child, seen));
}

function isManifest(value: unknown): value is KubeObject {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('metadata' in value)) return false;
  const { kind, metadata } = value;
  return typeof kind === 'string' && typeof metadata === 'object' && metadata !== null && 'name' in metadata;
}
