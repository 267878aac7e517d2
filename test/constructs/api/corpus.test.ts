import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from '../../../constructs/api/document.ts';
import { sentence } from '../../../constructs/api/problem.ts';
import { validateResource, validateText } from '../../../constructs/api/validate.ts';
import { corpus, transitions } from './corpus.ts';

/* The same files as in verdict.cluster.ts, without a server. */

describe('valid documents are accepted', () => {
  for (const { name, text } of corpus('valid')) {
    test(name, () => {
      const judged = validateText(text);
      assert.deepEqual(
        judged.flatMap(({ problems }) => problems.map(sentence)),
        [],
      );
      assert.equal(judged.length, 1);
    });
  }
});

describe('invalid documents are refused, with field, value, rule and remedy', () => {
  for (const { name, text, field, says } of corpus('invalid')) {
    test(name, () => {
      const problems = validateText(text).flatMap((judged) => judged.problems);
      const problem = problems.find((one) => one.field === field);
      assert.ok(problem, `names ${problems.map((one) => one.field).join(', ')}`);
      assert.ok(problem.rule !== '' && problem.line !== undefined && problem.line > 0);
      const all = problems.map(sentence).join('\n');
      for (const part of says) assert.ok(all.includes(part), `${part} is not in ${all}`);
    });
  }
});

describe('changes are allowed or refused', () => {
  for (const { name, before, after } of transitions()) {
    test(name, () => {
      const [was, is] = [before, after].map(({ text }) => readDocuments(text).documents[0]?.value);
      const problems = validateResource(is, was);
      if (after.field === undefined) assert.deepEqual(problems.map(sentence), []);
      else
        assert.ok(
          problems.some(({ field }) => field === after.field),
          problems.map(sentence).join('\n'),
        );
      for (const part of after.says) assert.ok(problems.map(sentence).join('\n').includes(part), part);
    });
  }
});

describe('files that are no single request', () => {
  for (const { name, text, field, says, line, documents } of corpus('offline')) {
    test(name, () => {
      const judged = validateText(text);
      const problems = judged.flatMap((one) => one.problems);
      if (field === undefined) assert.deepEqual(problems.map(sentence), []);
      else
        assert.ok(
          problems.some((one) => one.field === field),
          problems.map(sentence).join('\n'),
        );
      for (const part of says)
        assert.ok(problems.map(sentence).join('\n').includes(part), problems.map(sentence).join('\n'));
      if (line !== undefined) assert.equal(problems[0]?.line, line);
      if (documents !== undefined) assert.equal(judged.length, documents);
    });
  }
});
