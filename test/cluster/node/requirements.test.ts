import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNoNode } from '../index.ts';
import { discardFolder } from '../../discard-folder.ts';

test('where no node can run, one sentence says why', (t) => {
  const { platform, getuid } = process;
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  t.after(() => {
    Object.defineProperty(process, 'platform', { value: platform });
    if (getuid !== undefined) process.getuid = getuid;
  });
  assert.equal(whyNoNode(), 'a node needs Linux');

  Object.defineProperty(process, 'platform', { value: 'linux' });
  process.getuid = () => 1000;
  assert.equal(whyNoNode(), 'a node needs root');

  process.getuid = () => 0;
  const assets = mkdtempSync(join(tmpdir(), 'assets-'));
  const before = { assets: process.env['KUBEBUILDER_ASSETS'], path: process.env['PATH'] };
  t.after(() => {
    discardFolder(assets);
    restore('KUBEBUILDER_ASSETS', before.assets);
    restore('PATH', before.path);
  });
  process.env['KUBEBUILDER_ASSETS'] = assets;
  assert.equal(whyNoNode(), 'a node needs a kube-controller-manager, which KUBEBUILDER_ASSETS does not have');

  delete process.env['KUBEBUILDER_ASSETS'];
  process.env['PATH'] = assets;
  assert.match(whyNoNode() ?? '', /^a node needs unshare, .*, runc, and there is no apt-get$/);
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
