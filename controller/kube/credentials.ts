import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from './clock.ts';
import { ConnectionError } from './connection-error.ts';
import { serviceAccountOptions } from './in-cluster.ts';
import type { Target } from './kubeconfig.ts';
import { tokenFileAuthenticator } from './token-file.ts';

/** What TLS needs to know; equal `fingerprint`s mean that connections can be shared. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
  readonly servername?: string | undefined;
}

export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** How long an answer is used before files are read again and plugins asked again, in milliseconds. */
const KEEP_MS = 15_000;

/**
 * Headers and certificates for the requests to one cluster. They come from client-node's KubeConfig, which knows
 * tokens, client certificates, exec plugins and OIDC; this adds what it lacks: one plugin call at a time, files that
 * are read again while the process runs, and a way to say that the server refused. A pod's service account does without it.
 */
export class Credentials {
  readonly #target: Target;
  readonly #clock: Clock;
  #config: Promise<KubeConfig> | undefined;
  #current: { readonly access: Promise<Access>; readonly readAt: number } | undefined;

  constructor(target: Target, clock: Clock) {
    this.#target = target;
    this.#clock = clock;
  }

  /** Whether asking again can give something else: a token file, an exec plugin or another provider. */
  get isRenewable(): boolean {
    const { user } = this.#target;
    return isPresent(user.exec) || isPresent(user.authProvider) || isPresent(user.certFile);
  }

  /** @throws ConnectionError if a file can't be read or a plugin fails. */
  get(): Promise<Access> {
    const now = this.#clock.now();
    if (this.#current !== undefined && now - this.#current.readAt < KEEP_MS) return this.#current.access;
    const access = this.#read();
    const entry = { access, readAt: now };
    this.#current = entry;
    // A failure is told to those who wait for it, and is not kept.
    access.catch(() => {
      if (this.#current === entry) this.#current = undefined;
    });
    return access;
  }

  /** Forgets `refused`, unless it has been replaced already, so that the next `get` asks anew. */
  async forget(refused: Access): Promise<void> {
    const current = this.#current;
    if (current === undefined || (await current.access.catch(() => refused)) !== refused) return;
    if (this.#current === current) this.#current = undefined;
    // Plugins' answers are cached inside of the KubeConfig.
    this.#config = undefined;
  }

  async #read(): Promise<Access> {
    let options: RequestOptions;
    try {
      options = await this.#options();
    } catch (error) {
      throw this.#explain(error);
    }
    const tls: TlsMaterial = {
      ca: textOf(options.ca),
      cert: textOf(options.cert),
      key: textOf(options.key),
      rejectUnauthorized: options.rejectUnauthorized,
      servername: options.servername,
    };
    this.#check(tls);
    return { headers: this.#headers(options), tls };
  }

  async #options(): Promise<RequestOptions> {
    if (this.#target.isServiceAccount === true) return serviceAccountOptions(this.#target);
    this.#config ??= kubeConfigOf(this.#target);
    const options: RequestOptions = {};
    await (await this.#config).applyToHTTPSOptions(options);
    return options;
  }

  /** Credentials are not sent in the clear; kubectl does the same (clientcmd, IsConfigTransportTLS). */
  #headers(options: RequestOptions): Record<string, string> {
    if (this.#target.cluster.server.startsWith('http:')) return {};
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      if (value !== undefined) headers[name.toLowerCase()] = String(value);
    }
    if (typeof options.auth === 'string') {
      headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    }
    return headers;
  }

  #check({ ca, cert, key }: TlsMaterial): void {
    const bad = (what: string, cause: unknown): ConnectionError =>
      new ConnectionError(
        'certificate',
        `${what} of ${this.#target.source} can not be used. Check that it is whole and in PEM`,
        {
          cause,
        },
      );
    try {
      createSecureContext({ cert, key });
    } catch (error) {
      throw bad('the client certificate or its key', error);
    }
    if (ca === undefined) return;
    try {
      if (!ca.includes('-----BEGIN')) throw new Error('no PEM block');
      createSecureContext({ ca });
    } catch (error) {
      throw bad('the certificate authority', error);
    }
  }

  #explain(error: unknown): ConnectionError {
    const { source, user } = this.#target;
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const path = error instanceof Error && 'path' in error ? String(error.path) : undefined;
    if (isPresent(user.exec)) {
      // The plugin's output may hold a token, and JSON.parse quotes it: neither is repeated.
      const why = error instanceof SyntaxError ? 'it printed no ExecCredential' : (code ?? firstLine(error));
      const message = `the credential plugin ${user.exec.command} of ${source} failed: ${why}. Run it by hand to see why`;
      return new ConnectionError('credentials', message);
    }
    const what = path === undefined ? firstLine(error) : `${path} (${code ?? 'unreadable'})`;
    return new ConnectionError('credentials', `cannot read the credentials of ${source}: ${what}`, { cause: error });
  }
}

async function kubeConfigOf({ cluster, user }: Target): Promise<KubeConfig> {
  const { KubeConfig } = await import('./kube-config.ts');
  const config = new KubeConfig();
  // client-node refuses http:// unless certificates are not checked, which for http means nothing.
  const isPlain = cluster.server.startsWith('http:');
  config.loadFromClusterAndUser({ ...cluster, skipTLSVerify: isPlain || cluster.skipTLSVerify }, user);
  config.addAuthenticator(tokenFileAuthenticator);
  return config;
}

/** client-node leaves null where a kubeconfig says nothing. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : 'unknown problem').split('\n', 1)[0]?.slice(0, 200) ?? '';
}

/** client-node gives PEM as text or as the bytes of a file, of all that Node would take. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
