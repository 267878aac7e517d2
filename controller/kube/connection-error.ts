/** Which step of reaching the cluster failed. */
export type ConnectionProblem =
  | 'kubeconfig-missing'
  | 'kubeconfig-unreadable'
  | 'kubeconfig-invalid'
  | 'context-unknown'
  | 'not-in-cluster'
  | 'certificate'
  | 'credentials'
  | 'unreachable';

/**
 * The cluster can't be reached. The message says what, where and what to do about it.
 * It never holds a token, a password, a key or a line of a kubeconfig; nor does its cause.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly problem: ConnectionProblem;

  constructor(problem: ConnectionProblem, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Puts a transport error of Node or undici into words.
 * @param server URL without credentials.
 * @param source where the address and the certificates came from, such as `kubeconfig /x, context y`.
 * @returns undefined if the error is none of a connection that could not be made.
 */
export function explainTransportError(error: unknown, server: string, source: string): ConnectionError | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new ConnectionError(
      'certificate',
      `the certificate of ${server} is for other names. Use one of its names in the server address, or set tls-server-name (${source})`,
      { cause: error },
    );
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new ConnectionError(
      'unreachable',
      `${server} does not speak TLS (${code}). Check the port and whether the address should begin with http:// (${source})`,
      { cause: error },
    );
  }
  if (code.includes('ALERT')) {
    return new ConnectionError(
      'certificate',
      `${server} refuses the client certificate (${code}). Check the user of ${source}; the certificate may have expired`,
      { cause: error },
    );
  }
  if (CERTIFICATE_CODES.test(code)) {
    return new ConnectionError(
      'certificate',
      `the certificate of ${server} is not trusted (${code}). Check the certificate authority of ${source}`,
      { cause: error },
    );
  }
  const what = UNREACHABLE[code];
  if (what !== undefined) {
    return new ConnectionError(
      'unreachable',
      `cannot reach the API server at ${server}: ${what} (${code}). Check that it runs and that this address is right (${source})`,
      { cause: error },
    );
  }
  return undefined;
}

/** Verification codes of OpenSSL as Node names them (node/src/crypto/crypto_common.cc). */
const CERTIFICATE_CODES =
  /CERT_|_CERT|UNABLE_TO_(GET|VERIFY|DECRYPT|DECODE)|^ERR_TLS_|^ERR_OSSL_|^ERR_SSL_|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$|^CRL_/;

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be resolved now',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EADDRNOTAVAIL: 'the address can not be used from here',
  ETIMEDOUT: 'no answer',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
};

/** The code of an error or of the first of its causes that has one; several addresses tried give an AggregateError. */
function codeOf(error: unknown): string | undefined {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return undefined;
}
