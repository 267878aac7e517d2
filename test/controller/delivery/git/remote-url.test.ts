import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { GitDeliveryError } from '../../../../controller/delivery/git/git-delivery-error.ts';
import { checkRemoteUrl } from '../../../../controller/delivery/git/remote-url.ts';
import { GitWriter } from '../../../../controller/delivery/git/writer.ts';
import { impatientClock } from './given.ts';

const allowed = [
  '/srv/git/infra.git',
  'file:///srv/git/infra.git',
  'https://git.example.org/team/infra.git',
  'http://git.example.org:3000/infra',
  'ssh://git@git.example.org:2222/infra.git',
  'git@git.example.org:team/infra.git',
  'git.example.org:team/infra.git',
];

const withPassword = [
  'https://bot:hunter2@git.example.org/infra.git',
  'https://hunter2@git.example.org/infra.git',
  'http://:hunter2@git.example.org/infra.git',
  'https://git.example.org/infra.git?access_token=hunter2',
  'ssh://git:hunter2@git.example.org/infra.git',
  'git:hunter2@git.example.org:infra.git',
  'https://bot:hunter2@[bad',
];

const unsupported = [
  'ext::sh -c id',
  '--upload-pack=id',
  'relative/path',
  'git://example.org/x',
  'ftp://example.org/x',
  'a::b',
  '',
  '-oProxyCommand=id:x',
];

describe('the URL of the repository', () => {
  for (const url of allowed) test(`${url} is taken`, () => checkRemoteUrl(url));

  for (const url of withPassword) {
    test(`${url.replace('hunter2', '…')} is refused, and the password is printed nowhere`, () => {
      assert.throws(
        () => new GitWriter({ url, branch: 'main', cluster: 'prod', directory: '/nonexistent', clock: impatientClock }),
        (error) => {
          assert.ok(error instanceof GitDeliveryError);
          assert.equal(error.reason, 'UrlRefused');
          assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /hunter2/);
          return true;
        },
      );
    });
  }

  for (const url of unsupported) {
    test(`${JSON.stringify(url)} is refused: no kind that we know, or one that runs a program`, () => {
      assert.throws(() => checkRemoteUrl(url), { reason: 'UrlRefused' });
    });
  }
});
