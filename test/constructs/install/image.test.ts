import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { imageUser } from '../../../constructs/install/image.ts';
import { settingsOf } from '../../../constructs/install/settings.ts';

const root = join(import.meta.dirname, '../../..');
const dockerfile = readFileSync(join(root, 'images/controller/Dockerfile'), 'utf8');
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

test('the image has the Node that everything is tested with', () => {
  assert.match(dockerfile, new RegExp(`^FROM node:${devDependencies['node']}-trixie-slim AS build$`, 'm'));
});

test('both images are run in the same way, by the user that the Deployment names', () => {
  const all = (instruction: string) =>
    [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest]) => rest);
  assert.deepEqual(all('USER'), [`${imageUser}:${imageUser}`, `${imageUser}:${imageUser}`]);
  const [underInit, entrypoint = '', ...others] = all('ENTRYPOINT');
  assert.equal(underInit, entrypoint.replace('[', '["/usr/bin/tini", "--", '));
  assert.deepEqual(others, []);
  const variables = ['MALLOC_ARENA_MAX=1', 'NODE_ENV=production'];
  assert.deepEqual(all('ENV'), [...variables, ...variables]);
});

test('both images have the licences of what is in them, but for those of Debian, which finish.sh leaves where they are', () => {
  const stages = dockerfile.split(/^FROM .* AS (?:git|controller)$/m).slice(1);
  assert.equal(stages.length, 2);
  for (const stage of stages) {
    assert.match(stage, /^COPY LICENSE images\/controller\/THIRD-PARTY-NOTICES\.txt \/plumbline\/$/m);
    assert.match(stage, /^COPY --from=build \/usr\/local\/LICENSE \/usr\/local\/LICENSE$/m);
  }
  const sent = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  for (const path of ['!LICENSE', '!images']) assert(sent.includes(path), path);
});

test('the commands that it names build the images that an installation names', () => {
  const { image } = settingsOf({ git: { url: 'ssh://git@git.example/fleet' } });
  assert(dockerfile.includes(`-t ${settingsOf({}).image} .`));
  assert(dockerfile.includes(`-t ${image} --target git .`));
});
