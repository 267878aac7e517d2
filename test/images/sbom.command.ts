import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import packageJson from '../../package.json' with { type: 'json' };
import type { Component, Sbom } from '../../images/controller/sbom.ts';
import { inController, withLibrary } from '../../images/controller/shipped.ts';
import { run } from '../commands/command.ts';

const component = Type.Object({
  'bom-ref': Type.String({ minLength: 1 }),
  type: Type.Enum(['application', 'library']),
  name: Type.String({ minLength: 1 }),
  version: Type.String({ minLength: 1 }),
  purl: Type.String({ pattern: '^pkg:npm/(%40[^/@]+/)?[^/@]+@[^@]+$' }),
  licenses: Type.Array(
    Type.Union([
      Type.Object({ license: Type.Object({ id: Type.String() }) }),
      Type.Object({ expression: Type.String() }),
    ]),
    { minItems: 1 },
  ),
});

/** What https://cyclonedx.org/docs/1.5/json/ requires, and what whoever looks for known faults needs. */
const document = Type.Object({
  bomFormat: Type.Literal('CycloneDX'),
  specVersion: Type.Literal('1.5'),
  serialNumber: Type.String({ pattern: '^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
  version: Type.Integer({ minimum: 1 }),
  metadata: Type.Object({ timestamp: Type.String(), component }),
  components: Type.Array(component),
  dependencies: Type.Array(Type.Object({ ref: Type.String(), dependsOn: Type.Array(Type.String()) })),
});

test('the bill of materials names each package that ships, and no other', async () => {
  // WHEN it is asked for
  const { code, stdout, stderr } = await run('npm', ['run', '--silent', 'sbom']);

  // THEN it is a document of CycloneDX
  assert.equal(code, 0, stderr);
  const sbom = JSON.parse(stdout) as Sbom;
  assert(Check(document, sbom), stdout.slice(0, 2_000));

  // … of what ships
  const shipped = [...(await inController()), ...withLibrary()].map(({ name, version }) => `${name}@${version}`);
  const refs = sbom.components.map((one) => one['bom-ref']);
  assert.deepEqual(refs.toSorted(), [...new Set(shipped)].toSorted());
  assert.equal(sbom.metadata.component.name, packageJson.name);
  const isTool = ({ properties = [] }: Component) => properties.some(({ name }) => name.endsWith(':development'));
  assert.deepEqual(sbom.components.filter(isTool), []);

  // … in which each name is explained
  const known = new Set([...refs, sbom.metadata.component['bom-ref']]);
  const named = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  assert.deepEqual(
    named.filter((ref) => !known.has(ref)),
    [],
  );
});
