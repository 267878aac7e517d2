import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { issueServer, newAuthority } from '../certificates/issue.ts';
import { renewalTime } from '../certificates/lifetime.ts';
import type { Clock } from '../kube/index.ts';
import { EndpointError } from './endpoint.ts';

/** A certificate, or a chain of them, and its private key, in PEM. */
export interface ServingPair {
  readonly cert: string;
  readonly key: string;
}

/** What a server is to serve under. `newest` is asked before each handshake, and must not take long. */
export interface ServingCertificate {
  newest(): ServingPair;
}

/** The files of `--metrics-cert-file` and `--metrics-key-file`. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * A certificate from files, read again when they have changed: cert-manager and the kubelet replace them long before the old one ends. What does not
 * fit together, as in the middle of a replacement, is told and passed over.
 *
 * @throws EndpointError where there is no usable pair at the start
 */
export function certificateFromFiles(files: CertificateFiles, onError: (error: Error) => void): ServingCertificate {
  let seen = '';
  let pair: ServingPair | undefined;
  const look = (): void => {
    const now = [files.certFile, files.keyFile].map(versionOf).join();
    if (now === seen) return;
    seen = now;
    pair = readPair(files);
  };
  look();
  return {
    newest: () => {
      try {
        look();
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
      }
      // Without one, nothing was returned above.
      return pair as ServingPair;
    },
  };
}

/**
 * A certificate under an authority that nobody knows, made in memory: it keeps tokens from whoever only listens on the way. It is
 * replaced in good time.
 */
export async function selfSignedCertificate(
  names: readonly string[],
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<ServingCertificate> {
  const make = async () => {
    const authority = await newAuthority('plumbline-metrics', 'self-signed', clock.now());
    const pair = await issueServer(authority, 'plumbline', names, clock.now());
    return { cert: pair.certificate + authority.certificate, key: pair.key, renewAt: renewalTime(pair) };
  };
  let current = await make();
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    isRenewing = true;
    try {
      current = await make();
    } catch (error) {
      onError(error);
    } finally {
      isRenewing = false;
    }
  };
  return {
    newest: () => {
      if (clock.now() >= current.renewAt && !isRenewing) void renew();
      return current;
    },
  };
}

function versionOf(file: string): string {
  const { mtimeMs, ino, size } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${ino} ${size}`;
}

function readPair({ certFile, keyFile }: CertificateFiles): ServingPair {
  const [cert, key] = [readText(certFile), readText(keyFile)];
  if (!isPair(cert, key)) {
    throw new EndpointError(`${certFile} and ${keyFile} are no certificate with its private key, both in PEM`);
  }
  return { cert, key };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new EndpointError(`${file} cannot be read (${code})`);
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
