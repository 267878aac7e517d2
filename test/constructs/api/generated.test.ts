import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { customResourceDefinition } from '../../../constructs/api/crd.ts';
import { reference } from '../../../constructs/api/reference.ts';
import { validateText } from '../../../constructs/api/validate.ts';
import { generatedFiles, renewal, staleFiles } from '../../../constructs/generate.ts';

test('every generated file is what npm run generate would write now', () => {
  const stale = staleFiles();
  assert.deepEqual(stale, [], renewal(stale));
});

test('a file that is missing or was edited by hand is named, with how to renew it', () => {
  const files = [
    { path: 'crds/missing.yaml', content: () => '' },
    { path: 'package.json', content: () => 'edited' },
  ];
  assert.deepEqual(staleFiles(files), ['crds/missing.yaml', 'package.json']);
  assert.match(renewal(staleFiles(files)), /crds\/missing\.yaml, package\.json.*npm run generate/);
});

test('the written CRD, read by a YAML 1.1 reader, is the definition to the last character', () => {
  const crd = generatedFiles.find(({ path }) => path.startsWith('crds/'))?.content() ?? '';
  assert.deepEqual(parse(crd, { version: '1.1' }), JSON.parse(JSON.stringify(customResourceDefinition())));
});

test('kubectl apply can keep the CRD in its annotation, which holds 256 KiB', () => {
  assert.ok(JSON.stringify(customResourceDefinition()).length < 128 * 1024);
});

test('the document in the reference is valid, and the reference has a row for each field', () => {
  const text = reference();
  const example = /```yaml\n([^`]+)```/.exec(text)?.[1] ?? '';
  assert.deepEqual(validateText(example)[0]?.problems, []);
  for (const field of ['spec.storage.size', 'spec.access.from[].ipBlock.cidr', 'status.drift.receipts[].manager'])
    assert.ok(text.includes(`| \`${field}\` |`), field);
});

test('the reference says types, defaults and rules in words', () => {
  const row = (field: string): string =>
    reference()
      .split('\n')
      .find((line) => line.startsWith(`| \`${field}\` |`)) ?? '';
  assert.match(row('spec.replicas'), /\| whole number \| 1 \| .* \| 1-10 \|$/);
  assert.match(row('spec.storage.onDelete'), /\| Retain \\\| Delete \| Retain \|/);
  assert.match(row('spec.backup.retention'), /\| object \| \{keep: 7\} \|/);
  assert.match(row('spec.durability'), /replicas must be 2 or more \|$/);
  assert.match(row('spec.storage.size'), /\| quantity \| required \|.*cannot be changed/);
});

test('every field of the schema has a description', () => {
  const rows = reference()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  assert.deepEqual(
    rows.filter((row) => /\|\s+\|$/.test(row) && row.split('|').length < 6),
    [],
  );
  assert.ok(rows.length > 90, `${rows.length} rows`);
});
