import { fileURLToPath } from 'node:url';
import { goModule, pinned } from '../cluster/go-module.ts';

const folder = fileURLToPath(new URL('peers', import.meta.url));

/** The programs that Plumbline is measured beside; versions of their libraries are pinned there. */
export const peers = goModule({
  name: 'the peers of the benchmarks',
  folder,
  version: pinned(folder, 'sigs.k8s.io/controller-runtime (v\\S+)'),
  packages: { peers: 'plumbline.dev/bench/peers' },
});
