import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asksForNotice } from './licences.ts';
import { inController, type Package } from './shipped.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
export const noticesFile = fileURLToPath(new URL('THIRD-PARTY-NOTICES.txt', import.meta.url));

const opening = `The controller of Plumbline is one file. It holds the packages below, each under the licence that follows it.
`;
const line = '-'.repeat(80);

/**
 * The notices that licences ask for: each text once, after the packages that bring it along.
 *
 * @throws Error that names a package whose licence asks for its text, and which has none
 */
export function notices(packages: readonly Package[]): string {
  const byText = new Map<string, string[]>();
  for (const one of packages) {
    const text = textOf(one);
    byText.set(text, [...(byText.get(text) ?? []), `${one.name} ${one.version} (${one.licence})`]);
  }
  const parts = [...byText].map(([text, names]) => `${line}\n${names.join('\n')}\n\n${text}`);
  return [opening, ...parts].join('\n');
}

function textOf(one: Package): string {
  const files = readdirSync(`${project}${one.path}`).filter((name) =>
    /^(licen[cs]e|copying|notice|copyright)/i.test(name),
  );
  if (files.length === 0 && asksForNotice(one)) {
    throw new Error(
      `${one.name} ${one.version} is under ${one.licence} and has no file with its text: ask its authors for one`,
    );
  }
  const texts = files.sort().map((name) => readFileSync(`${project}${one.path}/${name}`, 'utf8'));
  return texts
    .map(
      (text) =>
        `${text
          .replaceAll('\r\n', '\n')
          .replace(/[ \t]+$/gm, '')
          .trim()}\n`,
    )
    .join('\n');
}

if (import.meta.main) writeFileSync(noticesFile, notices(await inController()));
