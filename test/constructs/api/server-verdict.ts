import { text } from 'node:stream/consumers';
import { connect, type Connection, type HttpRequest } from '../../../controller/kube/connection.ts';
import { apiVersion, plural } from '../../../constructs/api/resource.ts';

/** What the real API server says of a document. */
export interface ServerVerdict {
  readonly isAccepted: boolean;
  /** Its whole answer: the reason in words, and the causes with their fields. */
  readonly answer: string;
}

/** Posts raw YAML to a real API server, as `kubectl create --dry-run=server --validate=strict` would, without kubectl in between. */
export class Judge {
  readonly #connection: Connection;
  readonly #collection: (namespace: string) => string;

  private constructor(connection: Connection, collection: (namespace: string) => string) {
    this.#connection = connection;
    this.#collection = collection;
  }

  /** @param collection path of the kind that is judged; defaults to that of DatabaseServices */
  static async of(kubeconfig: string, collection = databaseServices): Promise<Judge> {
    return new Judge(await connect({ kubeconfig }), collection);
  }

  /** The verdict on a new object; nothing is stored. */
  async create(yaml: string, namespace: string): Promise<ServerVerdict> {
    return await this.#ask({
      method: 'POST',
      path: `${this.#collection(namespace)}?dryRun=All&fieldValidation=Strict`,
      headers: { 'content-type': 'application/yaml' },
      body: yaml,
    });
  }

  /** Server-side apply: what is left out of a later document of the same name goes. A dry run stores nothing. */
  async apply(yaml: string, namespace: string, name: string, isDryRun: boolean): Promise<ServerVerdict> {
    return await this.#ask({
      method: 'PATCH',
      path: `${this.#collection(namespace)}/${name}?fieldManager=test&force=true&fieldValidation=Strict${isDryRun ? '&dryRun=All' : ''}`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: yaml,
    });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #ask(request: HttpRequest): Promise<ServerVerdict> {
    const response = await this.#connection.request(request);
    const answer = await text(response.body);
    if (response.status >= 200 && response.status < 300) return { isAccepted: true, answer };
    if (response.status === 429 || response.status >= 500) throw new Error(`No verdict: ${response.status} ${answer}`);
    return { isAccepted: false, answer: readable(answer) };
  }
}

function databaseServices(namespace: string): string {
  return `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** Message and causes of a Status, without the escapes of JSON. */
function readable(answer: string): string {
  try {
    const status = JSON.parse(answer) as {
      message?: string;
      details?: { causes?: readonly { field?: string; message?: string }[] };
    };
    const causes = (status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
    return [status.message, ...causes].join('\n');
  } catch {
    return answer;
  }
}
