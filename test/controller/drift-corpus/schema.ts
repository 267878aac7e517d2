import type { Kube, ResourceType } from '../../../controller/kube/index.ts';

/** A schema as OpenAPI v3 of the API server has it, with what Kubernetes says about merging. */
interface Written {
  readonly $ref?: string;
  readonly allOf?: readonly Written[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Written>>;
  readonly additionalProperties?: Written;
  readonly items?: Written;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
  readonly 'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
}

type Definitions = Readonly<Record<string, Written>>;

/** Each is megabytes of JSON. */
const read = new Map<string, Promise<Schema>>();

/**
 * What the API server itself says of one field: who may own what is below it, and how patches treat it. Read from the server, so that what is
 * expected of the controller does not come from the controller's own tables.
 */
export class Schema {
  readonly #definitions: Definitions;
  readonly #written: Written;
  /** Names of the definitions that were followed to get here. */
  readonly #names: readonly string[];

  constructor(definitions: Definitions, written: Written) {
    this.#definitions = definitions;
    const { whole, names } = follow(definitions, written);
    this.#written = whole;
    this.#names = names;
  }

  /** @throws Error for a kind that the server does not describe */
  static of(kube: Kube, type: ResourceType): Promise<Schema> {
    const found = read.get(type.kind) ?? Schema.#read(kube, type);
    read.set(type.kind, found);
    return found;
  }

  static async #read(kube: Kube, { apiVersion, kind }: ResourceType): Promise<Schema> {
    const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
    const { components } = (await kube.raw(`/openapi/v3/${path}`)) as { components: { schemas: Definitions } };
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const found = Object.values(components.schemas).find((schema) =>
      schema['x-kubernetes-group-version-kind']?.some(
        (one) => one.group === group && one.version === version && one.kind === kind,
      ),
    );
    if (found === undefined) throw new Error(`the API server does not describe ${kind}`);
    return new Schema(components.schemas, found);
  }

  field(name: string): Schema {
    return new Schema(this.#definitions, this.#written.properties?.[name] ?? this.#written.additionalProperties ?? {});
  }

  get item(): Schema {
    return new Schema(this.#definitions, this.#written.items ?? {});
  }

  get isQuantity(): boolean {
    return this.#names.some((name) => name.endsWith('.Quantity'));
  }

  get choices(): readonly string[] {
    return this.#written.enum ?? [];
  }

  /** The key fields of a list whose items have owners each; undefined for one that has one owner as a whole, or is no list. */
  get listKeys(): readonly string[] | undefined {
    return this.#written['x-kubernetes-list-type'] === 'map' ? this.#written['x-kubernetes-list-map-keys'] : undefined;
  }

  get isAtomicMap(): boolean {
    return this.#written['x-kubernetes-map-type'] === 'atomic';
  }

  /** By what a strategic patch finds an item; undefined where it replaces the list. */
  get mergeKey(): string | undefined {
    const isMerged = this.#written['x-kubernetes-patch-strategy']?.split(',').includes('merge') === true;
    return isMerged ? this.#written['x-kubernetes-patch-merge-key'] : undefined;
  }

  /** Whether a strategic patch has to name the fields that stay. */
  get retainsKeys(): boolean {
    return this.#written['x-kubernetes-patch-strategy']?.split(',').includes('retainKeys') === true;
  }
}

function follow(definitions: Definitions, written: Written): { whole: Written; names: readonly string[] } {
  const references = [written, ...(written.allOf ?? [])].flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]));
  const names = references.map((reference) => reference.replace('#/components/schemas/', ''));
  // What stands beside the reference is about this field, and goes before what is said of the type.
  return { whole: Object.assign({}, ...names.map((name) => definitions[name]), written) as Written, names };
}
