import type { KubeObject } from '../kube/index.ts';
import type { Deviation } from './deviation.ts';
import { editorOf, unknownEditor, type Editor } from './editor.ts';
import { readable } from './field-path.ts';
import { disclosed } from './disclosure.ts';

/** One change by somebody else to what we state. Values are texts that are fit to be shown. */
export interface Drift {
  /** Such as `StatefulSet/orders`. */
  readonly object: string;
  /** Such as `spec.template.spec.containers[name=postgres].image`; empty for the whole object. */
  readonly field: string;
  readonly was: string | undefined;
  readonly now: string | undefined;
  readonly editor: Editor;
}

/**
 * The deviations that somebody else made. `pending` and `extra` are ours to do and no drift; fields that have the right value but are not ours
 * are one drift of `metadata.managedFields`, since only a wipe of it leaves them so.
 */
export function drifts(found: readonly Deviation[], live: KubeObject, manager: string): readonly Drift[] {
  const object = `${live.kind}/${live.metadata.name}`;
  const foreign = found.filter((deviation) => deviation.kind === 'changed' || deviation.kind === 'removed');
  const result = foreign.map((deviation): Drift => {
    const shown = disclosed(live.kind, deviation.path);
    return {
      object,
      field: readable(deviation.path),
      was: shown(deviation.was),
      now: deviation.kind === 'removed' ? undefined : shown(deviation.now),
      editor: deviation.kind === 'removed' ? unknownEditor : editorOf(live, deviation.path, manager),
    };
  });
  if (result.length === 0 && found.some((deviation) => deviation.kind === 'unowned')) {
    result.push({ object, field: 'metadata.managedFields', was: undefined, now: undefined, editor: unknownEditor });
  }
  return result;
}

/** The drift of an object that is gone. */
export function deletion(kind: string, name: string): Drift {
  return {
    object: `${kind}/${name}`,
    field: '',
    was: undefined,
    now: undefined,
    editor: { ...unknownEditor, operation: 'Delete' },
  };
}
