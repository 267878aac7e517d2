import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { connect, isObjectMissing, KubeClient } from '../../controller/kube/index.ts';
import { bundle } from '../../images/controller/bundle.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { project, TemporaryFolder } from '../commands/command.ts';
import { readPage } from '../docs/shell.ts';
import { generated } from '../leaks/mark.ts';
import { MainProcess } from './main-process.ts';
import { ownKubeconfig } from './own-account.ts';
import { databaseService, eventually, installCrd } from './running-plumbline.ts';
import { served } from '../served.ts';

const page = readPage('tracing.md');

/** A span as OTLP has it in JSON. https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** What a collector of OpenTelemetry is for a controller: it takes spans over OTLP. */
class Collector implements AsyncDisposable {
  readonly #exports: Export[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on(
      'request',
      served((request, response) => this.#take(request, response)),
    );
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new Collector(server);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#exports.push((await json(request)) as Export);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spans(): readonly Span[] {
    return this.#exports.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  get text(): string {
    return JSON.stringify(this.#exports);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function attribute({ attributes }: Span, name: string): unknown {
  return Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];
}

test('an SDK that is loaded beside the file of the image gets the spans of each run and of its requests', async () => {
  // GIVEN that file, and the SDK as the page on traces has it
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const namespace = await newNamespace(cluster);
  using folder = new TemporaryFolder();
  await bundle(folder.in('controller.mjs'));
  symlinkSync(`${project}/node_modules`, folder.in('node_modules'));
  const [, tracing = assert.fail('the page has no file')] = /```js\n([^]*?)```/.exec(page) ?? [];
  writeFileSync(folder.in('tracing.mjs'), tracing);
  await using collector = await Collector.start();
  const kubeconfig = await ownKubeconfig(cluster);
  const flags = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--lease-namespace', namespace];
  const environment = {
    NODE_OPTIONS: `--import=${folder.in('tracing.mjs')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };

  // WHEN a database is created, and the controller is stopped
  {
    await using main = new MainProcess(flags, environment, folder.in('controller.mjs'));
    await main.says('leading', 60_000);
    const connection = await connect({ kubeconfig: cluster.kubeconfig });
    await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
    const kube = new KubeClient(connection);
    await kube.create(databaseService(namespace, 'orders'), { type: databaseServices, fieldManager: 'test' });
    const made = async (): Promise<object | undefined> => {
      try {
        return await kube.get(typeOf({ kind: 'StatefulSet' }), { namespace, name: 'orders' });
      } catch (error) {
        if (!isObjectMissing(error)) throw error;
        return undefined;
      }
    };
    await eventually('its StatefulSet is made', made, 60_000);
    main.kill('SIGTERM');
    assert.equal(await main.ends(60_000), 0, main.stderr);
  }

  // THEN what it did for that is one trace
  const { spans } = collector;
  const isCreation = (span: Span): boolean =>
    span.name === 'PATCH /apis/apps/v1/namespaces/{namespace}/statefulsets/{name}';
  const creation = spans.find(isCreation) ?? assert.fail('nothing tells of the StatefulSet');
  assert.equal(attribute(creation, 'http.response.status_code'), 201);
  assert.equal(attribute(creation, 'plumbline.request.reason'), 'manifest');
  const run = spans.find(({ spanId }) => spanId === creation.parentSpanId) ?? assert.fail('it belongs to no run');
  assert.equal(run.name, 'reconcile databaseservice');
  assert.equal(run.parentSpanId ?? '', '');
  assert.equal(attribute(run, 'k8s.namespace.name'), namespace);
  assert.equal(attribute(run, 'plumbline.database.name'), 'orders');
  const requests = spans.filter(({ parentSpanId }) => parentSpanId === run.spanId);
  assert(requests.length > 5, `${requests.length} requests`);
  for (const { traceId } of requests) assert.equal(traceId, run.traceId);
  // … the lease belongs to no run, and no password is told
  const lease = spans.find((span) => attribute(span, 'plumbline.request.reason') === 'lease');
  assert.equal(lease?.parentSpanId ?? '', '');
  assert(!generated.isIn(collector.text));
});

test('the page has the versions that it was tried with', () => {
  const packages: Readonly<Record<string, string>> = packageJson.devDependencies;
  for (const [, name = '', version] of page.matchAll(/(@opentelemetry\/[a-z-]+)@([\d.]+)/g)) {
    assert.equal(version, packages[name], name);
  }
});
