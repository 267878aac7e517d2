import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { inController, withLibrary, type Package } from './shipped.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** As far as it is read here. https://cyclonedx.org/docs/1.5/json/ */
export interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

export interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly unknown[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** npm's bill of materials of the whole project, as text. @throws Error when npm cannot make one */
export function npmSbom(): string {
  const args = ['sbom', '--sbom-format=cyclonedx', '--loglevel=error'];
  return execFileSync('npm', args, { cwd: project, encoding: 'utf8', maxBuffer: 2 ** 27 });
}

/** What of it ships: without the tools of development, and named as the package is, not as the folder in which it lies. */
export function reduced(whole: Sbom, shipped: readonly Package[]): Sbom {
  const refs = new Set(shipped.map(({ name, version }) => `${name}@${version}`));
  const { component } = whole.metadata;
  const isKept = (ref: string): boolean => refs.has(ref) || ref === component['bom-ref'];
  return {
    ...whole,
    metadata: { ...whole.metadata, component: { ...component, name: packageJson.name } },
    components: whole.components.filter((one) => isKept(one['bom-ref'])).map(asShipped),
    dependencies: whole.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ dependsOn = [], ...rest }) => ({ ...rest, dependsOn: dependsOn.filter(isKept) })),
  };
}

/** npm marks what the bundler takes from the development dependencies as a tool, and whoever looks for known faults would pass over it. */
function asShipped({ properties = [], ...component }: Component): Component {
  return { ...component, properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development') };
}

if (import.meta.main) {
  const shipped = [...(await inController()), ...withLibrary()];
  process.stdout.write(`${JSON.stringify(reduced(JSON.parse(npmSbom()) as Sbom, shipped), undefined, 2)}\n`);
}
