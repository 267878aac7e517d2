import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { NodeDatabase } from './node-database.ts';

/** Asks a server by the protocol of PostgreSQL for TLS, and prints the certificate that it shows. */
const handshake = `
import socket, ssl, struct, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
plain = socket.create_connection((sys.argv[1], 5432), timeout=10)
plain.sendall(struct.pack("!ii", 8, 80877103))
assert plain.recv(1) == b"S", "no TLS"
print(ssl.DER_cert_to_PEM_cert(context.wrap_socket(plain).getpeercert(binary_form=True)))
`;

/** The serial numbers of the certificates that the members serve, in their order: asked from the first one over the network. */
export async function servedSerials(database: NodeDatabase): Promise<readonly string[]> {
  const [first = ''] = database.members;
  const serials: string[] = [];
  for (const member of database.members) {
    const { podIP = '' } = (await database.pod(member)).status;
    const pem = await database.run(first, ['python3', '-c', handshake, podIP]);
    serials.push(new X509Certificate(pem).serialNumber);
  }
  return serials;
}

/** A session of psql that stays open, and is asked now and then. */
export class Session implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #stderr = '';

  /** @param connection for libpq, such as `host=orders user=app`, without a password */
  constructor({ cluster, namespace, members }: NodeDatabase, connection: string, password: string) {
    const script = 'read -r PGPASSWORD && export PGPASSWORD && exec psql -X -q -At "$1"';
    const [first = ''] = members;
    const command = ['exec', '-i', first, '-c', 'postgres', '--', 'bash', '-c', script, 'psql', connection];
    this.#process = spawn(cluster.kubectl, [`--kubeconfig=${cluster.kubeconfig}`, '-n', namespace, ...command]);
    this.#process.stdin.on('error', () => undefined);
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.#process.stdin.write(`${password}\n`);
  }

  /** Runs a statement that gives one row. @throws Error with what psql said, when the session is over */
  async ask(statement: string): Promise<string> {
    this.#process.stdin.write(`${statement};\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the session is over: ${this.#stderr}`);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, 'close');
  }
}
