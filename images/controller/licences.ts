import type { Package } from './shipped.ts';

/**
 * Licences of what may ship with Plumbline, by their SPDX identifiers: all of them let anybody use, change and pass on, and ask for no more than that their
 * text goes along. One that asks for the source of what it is linked with does not belong here.
 */
const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
]);

/** Licences that do not even ask for their text. */
const silent: ReadonlySet<string> = new Set(['0BSD', 'Unlicense']);

/** Whether the text of a licence has to go along. */
export function asksForNotice({ licence }: Package): boolean {
  return !silent.has(licence);
}

/** One sentence for each package that may not ship, and what to do. */
export function refusals(packages: readonly Package[]): readonly string[] {
  return packages
    .filter(({ licence }) => !allowed.has(licence))
    .map(
      ({ name, version, licence, path }) =>
        `${name} ${version} (${path}) is under ${licence === '' ? 'no licence that it states' : licence}, which may not ship: ` +
        'do without it, or, where that licence asks for no more than its text, add it to images/controller/licences.ts',
    );
}
