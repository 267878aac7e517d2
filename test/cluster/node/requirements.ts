import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createProgress } from '../progress.ts';

/** Programs that a node runs, and the Debian packages that have them. */
const nodePrograms = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  mount: 'mount',
  losetup: 'mount',
  'mkfs.ext4': 'e2fsprogs',
  ip: 'iproute2',
  nft: 'nftables',
  iptables: 'iptables',
  ipset: 'ipset',
  runc: 'runc',
};

/** Why no node can run on this machine, as one sentence. Undefined when one can. */
export function whyNoNode(): string | undefined {
  if (process.platform !== 'linux') return 'a node needs Linux';
  if (process.getuid?.() !== 0) return 'a node needs root';
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets && !existsSync(join(assets, 'kube-controller-manager'))) {
    return 'a node needs a kube-controller-manager, which KUBEBUILDER_ASSETS does not have';
  }
  const missing = missingPrograms(nodePrograms);
  if (missing.length > 0 && !hasProgram('apt-get'))
    return `a node needs ${missing.join(', ')}, and there is no apt-get`;
  const { status, stderr } = spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true'], {
    encoding: 'utf8',
  });
  if (status !== 0) return `a node needs namespaces of its own (${stderr.trim()})`;
  return undefined;
}

/** Installs what is missing for a node. @throws when that fails, with the last words of apt-get. */
export function installNodePrograms(onProgress?: (line: string) => void): Promise<void> {
  return installPrograms(nodePrograms, onProgress);
}

/**
 * Installs the Debian packages of programs that are missing, as root on Debian or a relative.
 * @param programs the package that each program is in
 * @throws when that fails, with the last words of apt-get.
 */
export async function installPrograms(
  programs: Readonly<Record<string, string>>,
  onProgress?: (line: string) => void,
): Promise<void> {
  const missing = missingPrograms(programs);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => programs[program] ?? program))];
  await createProgress(onProgress).during(`Installing ${packages.join(', ')} with apt-get`, async () => {
    aptGet(['update']);
    aptGet(['install', '--yes', '--no-install-recommends', ...packages]);
  });
  const still = missingPrograms(programs);
  if (still.length > 0)
    throw new Error(`apt-get installed ${packages.join(', ')}, but there is still no ${still.join(', ')}.`);
}

function missingPrograms(programs: Readonly<Record<string, string>>): string[] {
  return Object.keys(programs).filter((program) => !hasProgram(program));
}

function hasProgram(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function aptGet(args: readonly string[]): void {
  const { status, error, stderr, stdout } = spawnSync('apt-get', ['--quiet', ...args], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status === 0) return;
  const words = error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
  throw new Error(`apt-get ${args.join(' ')} failed: ${words}`, { cause: error });
}
