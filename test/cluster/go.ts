import { spawnSync } from 'node:child_process';
import { goVersion, moduleFolder } from './pins.ts';

const remedy = `install Go ${minor(goVersion)} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl`;

/** The Go that is there cannot build anything; its message is one sentence. */
export class NoGoError extends Error {
  override readonly name = 'NoGoError';
}

/**
 * Checks that the `go` on PATH can build the control plane.
 * @throws NoGoError when there is none or it is too old, in one sentence that says what to do.
 */
export function requireGo(): void {
  // In the folder of the module, where Go 1.21 and newer switch to the version that the module asks for.
  const { stdout, stderr, error, status } = spawnSync('go', ['version'], { cwd: moduleFolder, encoding: 'utf8' });
  if (error !== undefined) {
    throw new NoGoError(`The test control plane is built with Go, and there is no go on PATH: ${remedy}.`, {
      cause: error,
    });
  }
  const found = /go version go(\d+\.\d+)/.exec(stdout)?.[1];
  if (status !== 0 || found === undefined) {
    throw new NoGoError(
      `The test control plane is built with Go, and \`go version\` failed (${stderr.trim()}): ${remedy}.`,
    );
  }
  if (isOlder(found, goVersion)) {
    throw new NoGoError(
      `The test control plane needs Go ${minor(goVersion)}, and the go on PATH is ${found}: ${remedy}.`,
    );
  }
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
