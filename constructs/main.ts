import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clockNotes } from './clock-notes.ts';
import { firstFew } from './first-few.ts';
import { apiFiles, installationFiles, monitoringFiles, type Files } from './install/files.ts';
import type { OutputFolderName } from './output-layout.ts';
import { fileName, render } from './render.ts';
import { serialize } from './serialize.ts';
import { readSpecs } from './specs.ts';
import { controllerOnly } from './standalone.ts';

/*
 * The app that `cdk8s synth` runs: DatabaseServices of a folder in, manifests out, one file per object, and Plumbline's own installation. Each database is a cdk8s App of its
 * own (see render.ts): in one App, the time would grow with the square of their number.
 */
const folder = process.env['PLUMBLINE_SPECS'] ?? 'examples';
const mustStandAlone = process.env['PLUMBLINE_STANDALONE'] === 'true';
const output = process.env['CDK8S_OUTDIR'] ?? 'dist';

const { databases, errors } = readSpecs(folder);
const notes = databases.flatMap((database) => {
  const { namespace, name } = database.metadata;
  return controllerOnly(database).map((note) => ({ note, name: `${namespace}/${name}` }));
});
const remarks = databases.flatMap((database) => {
  const { namespace, name } = database.metadata;
  return clockNotes(database, Date.now()).map((note) => ({ note, name: `${namespace}/${name}` }));
});
const failures = mustStandAlone ? [...errors, ...notes.map(({ name, note }) => `${name}: ${note}`)] : errors;

if (failures.length > 0) {
  process.stderr.write(`${failures.join('\n')}\n`);
  process.exitCode = 1;
} else {
  process.stderr.write(grouped([...notes, ...remarks]));
  for (const database of databases) {
    const target = join(output, 'databases', database.metadata.namespace ?? '', database.metadata.name);
    mkdirSync(target, { recursive: true });
    for (const manifest of render(database)) writeFileSync(join(target, fileName(manifest)), serialize(manifest));
  }
  const others: readonly (readonly [OutputFolderName, Files])[] = [
    ['crds', apiFiles()],
    ['plumbline', installationFiles()],
    ['plumbline-monitoring', monitoringFiles()],
  ];
  for (const [folder, files] of others) {
    mkdirSync(join(output, folder), { recursive: true });
    for (const [name, manifest] of files) writeFileSync(join(output, folder, name), serialize(manifest));
  }
}

/** Each note once, with the first few databases that it is about: a thousand of them are no reading. */
function grouped(all: readonly { readonly note: string; readonly name: string }[]): string {
  const names = Map.groupBy(all, ({ note }) => note);
  return [...names]
    .map(([note, about]) => {
      const names = about.map(({ name }) => name);
      return `note: ${firstFew(names, 3)}: ${note}\n`;
    })
    .join('');
}
