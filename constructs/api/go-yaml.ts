import { isAlias, isMap, isScalar, isSeq, type Alias, type Scalar, type YAMLMap } from 'yaml';
import { isMergeKey, keyText } from './go-key.ts';
import { goScalar, ScalarError } from './go-scalar.ts';
import { checkSpelling, keyProblem } from './go-spelling.ts';
import { join } from './problem.ts';

/** Where a node stands: the field, built only when somebody asks. */
export interface Place {
  readonly parent: Place | undefined;
  readonly key: string | number;
}

export interface Decoded {
  readonly value: unknown;
  readonly errors: readonly { readonly place: Place | undefined; readonly offset: number; readonly message: string }[];
}

/** Sees every key or list item with its node. */
export type Visit = (place: Place | undefined, offset: number, node: unknown) => void;

/**
 * The JSON value of a YAML document as the API server's strict reading has it: scalars by Go, keys as text, aliases and merge keys followed,
 * and a key that stands twice is an error, even where a merge key brought it.
 * Source: go.yaml.in/yaml/v2, decode.go and scannerc.go, and sigs.k8s.io/yaml
 *
 * @param text what the document was parsed from
 */
export function decode(root: unknown, text: string, visit?: Visit): Decoded {
  return new Decoder(text, visit).run(root);
}

/** `spec.storage.size` of a place. */
export function fieldOf(place: Place | undefined): string {
  return place ? join(fieldOf(place.parent), place.key) : '';
}

class Decoder {
  readonly #text: string;
  readonly #visit: Visit | undefined;
  readonly #anchors = new Map<string, unknown>();
  readonly #open = new Set<unknown>();
  readonly #errors: { place: Place | undefined; offset: number; message: string }[] = [];
  #followed = 0;

  constructor(text: string, visit: Visit | undefined) {
    this.#text = text;
    this.#visit = visit;
  }

  run(root: unknown): Decoded {
    this.#visit?.(undefined, offsetOf(root), root);
    const value = this.#value(root, undefined);
    return { value, errors: this.#errors };
  }

  #value(node: unknown, place: Place | undefined, isInFlow = false): unknown {
    if (isAlias(node)) return this.#alias(node, place);
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor === undefined || this.#open.has(node)) return this.#content(node, place, isInFlow);
    this.#anchors.set(anchor, node);
    this.#open.add(node);
    const value = this.#content(node, place, isInFlow);
    this.#open.delete(node);
    return value;
  }

  #content(node: unknown, place: Place | undefined, isInFlow: boolean): unknown {
    if (isScalar(node)) return this.#scalar(node, place, isInFlow);
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const inner = { parent: place, key: index };
        this.#visit?.(inner, offsetOf(item), item);
        return this.#value(item, inner, node.flow);
      });
    }
    if (!isMap(node)) return null;
    const map = new Map<string, unknown>();
    this.#map(node, place, map);
    return Object.fromEntries(map);
  }

  #map(node: YAMLMap, place: Place | undefined, into: Map<string, unknown>): void {
    for (const { key, value } of node.items) {
      if (isMergeKey(key)) {
        this.#merge(value, place, into);
        continue;
      }
      const name = keyText(this.#value(key, place, node.flow));
      if (name === undefined) {
        this.#fail(key, place, 'has a key that is neither text nor a number nor true or false');
        continue;
      }
      const inner = { parent: place, key: name };
      const misspelt = keyProblem(key, this.#text, node.flow ?? false);
      if (misspelt !== undefined) this.#fail(key, inner, misspelt);
      if (into.has(name)) this.#fail(key, inner, 'stands twice in the same map');
      else this.#visit?.(inner, offsetOf(key), value);
      const item = this.#value(value, inner, node.flow);
      if (!into.has(name)) into.set(name, item);
    }
  }

  /** Kubernetes refuses a merge key whose map has a key in common with the map that it is merged into. */
  #merge(node: unknown, place: Place | undefined, into: Map<string, unknown>): void {
    const target = isAlias(node) ? this.#anchors.get(node.source) : node;
    if (isMap(target)) this.#guarded(target, place, () => this.#map(target, place, into));
    else if (isSeq(node)) for (const item of node.items.toReversed()) this.#merge(item, place, into);
    else this.#fail(node, place, 'has a merge key << that names no map');
  }

  #alias(node: Alias, place: Place | undefined): unknown {
    const target = this.#anchors.get(node.source);
    if (target === undefined) return this.#fail(node, place, `names the anchor ${node.source}, which is not there`);
    return this.#guarded(target, place, () => this.#value(target, place));
  }

  #guarded(target: unknown, place: Place | undefined, follow: () => unknown): unknown {
    this.#followed += 1;
    if (this.#open.has(target)) return this.#fail(target, place, 'has an anchor that contains itself');
    if (this.#followed > mostAliases) return this.#fail(target, place, `has more than ${mostAliases} aliases`);
    this.#open.add(target);
    const value = follow();
    this.#open.delete(target);
    return value;
  }

  #scalar(node: Scalar, place: Place | undefined, isInFlow: boolean): unknown {
    try {
      checkSpelling(node, this.#text, isInFlow);
      const value = goScalar(node.source ?? '', node.tag, node.type === undefined || node.type === 'PLAIN');
      if (typeof value === 'number' && !Number.isFinite(value)) throw new ScalarError('is no number that JSON has');
      return value;
    } catch (error) {
      if (!(error instanceof ScalarError)) throw error;
      return this.#fail(node, place, error.message);
    }
  }

  #fail(node: unknown, place: Place | undefined, message: string): undefined {
    this.#errors.push({ place, offset: offsetOf(node), message });
    return undefined;
  }
}

/** Far more than a spec needs, far less than would make a small file large. */
const mostAliases = 1000;

function offsetOf(node: unknown): number {
  return (node as { range?: readonly [number, number, number] | null } | null | undefined)?.range?.[0] ?? 0;
}
