import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from '../../../constructs/api/document.ts';
import { gitDestinationReference } from '../../../constructs/api/git-destination/reference.ts';
import { sentence } from '../../../constructs/api/problem.ts';
import { gitDestinationResourceKind as kind } from '../../../constructs/api/resource-kind.ts';
import { validateResource } from '../../../constructs/api/validate.ts';
import { checkRemoteUrl } from '../../../controller/delivery/git/remote-url.ts';
import { checkBranch, folderOf } from '../../../controller/delivery/git/repository-path.ts';
import { destinationCorpus } from './corpus.ts';

/* The same files as in git-destination.cluster.ts, without a server. */

describe('valid GitDestinations are accepted', () => {
  for (const { name, text } of destinationCorpus('valid')) {
    const value = readDocuments(text).documents[0]?.value as { spec: Record<string, string> };
    test(name, () => {
      assert.deepEqual(validateResource(value, undefined, kind).map(sentence), []);
    });

    test(`${name}: the writer takes its URL, branch and path too`, () => {
      const { url = '', branch, path } = value.spec;
      checkRemoteUrl(url);
      checkBranch(branch ?? 'main');
      folderOf({ cluster: 'prod', namespace: 'shop', name: 'orders' }, path);
    });
  }
});

describe('invalid GitDestinations are refused, and the field is named', () => {
  for (const { name, text, field, says } of destinationCorpus('invalid')) {
    test(name, () => {
      const problems = validateResource(readDocuments(text).documents[0]?.value, undefined, kind);
      assert.ok(
        problems.some((one) => one.field === field),
        `names ${problems.map((one) => one.field).join(', ')}`,
      );
      const all = problems.map(sentence).join('\n');
      for (const part of says) assert.ok(all.includes(part), `${part} is not in ${all}`);
    });
  }
});

test('a DatabaseService is no GitDestination, and is told so', () => {
  const other = { apiVersion: 'plumbline.dev/v1alpha1', kind: 'DatabaseService', metadata: { name: 'main' }, spec: {} };
  assert.match(validateResource(other, undefined, kind).map(sentence).join(), /is not a GitDestination/);
});

test('the document in the reference is valid', () => {
  const example = /```yaml\n([^`]+)```/.exec(gitDestinationReference())?.[1] ?? '';
  assert.deepEqual(validateResource(readDocuments(example).documents[0]?.value, undefined, kind), []);
});
