import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { KubeClient, KubeClientOptions, KubeObject, ResourceType } from '../../../controller/kube/index.ts';
import { tracer } from '../../../controller/tracer.ts';
import { RecordedSpans } from '../recorded-spans.ts';
import { answer, withClient, type Script } from './scripted-server.ts';

const secrets: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const ref = { namespace: 'shop', name: 'orders' };
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: ref, stringData: { password: 'hidden' } };

/** Sends requests to a server with that script, and returns the spans of them. */
async function spansOf(script: Script, send: (kube: KubeClient) => Promise<unknown>, options: KubeClientOptions = {}) {
  using spans = new RecordedSpans();
  let server = '';
  const body = async (kube: KubeClient, { url }: { readonly url: string }): Promise<void> => {
    server = url;
    await send(kube);
  };
  await withClient(script, body, options);
  return { spans: spans.ended, server: URL.parse(server) };
}

const refusal: Script = (_, response) =>
  answer(response, 409, { kind: 'Status', reason: 'Conflict', message: 'hidden', code: 409 });

describe('the span of a request', () => {
  test('says what was asked for, where and how it was answered, by the names of OpenTelemetry', async () => {
    const { spans, server } = await spansOf(
      ({ body }, response) => answer(response, 201, JSON.parse(body)),
      (kube) => kube.apply(secret, { type: secrets, fieldManager: 'plumbline' }),
      { reason: 'manifest' },
    );
    const [span] = spans;
    assert.equal(spans.length, 1);
    assert.equal(span?.name, 'PATCH /api/v1/namespaces/{namespace}/secrets/{name}');
    assert.equal(span.kind, SpanKind.CLIENT);
    assert.equal(span.status.code, SpanStatusCode.UNSET);
    assert.deepEqual(span.attributes, {
      'http.request.method': 'PATCH',
      'http.response.status_code': 201,
      'plumbline.request.reason': 'manifest',
      'plumbline.request.verb': 'apply',
      'server.address': server?.hostname,
      'server.port': Number(server?.port),
      'url.full': `${server?.origin}/api/v1/namespaces/shop/secrets/orders?fieldManager=plumbline&fieldValidation=Strict`,
      'url.template': '/api/v1/namespaces/{namespace}/secrets/{name}',
    });
  });

  test('is failed where the answer is, and has the status and nothing of the message', async () => {
    const { spans } = await spansOf(refusal, (kube) => assert.rejects(kube.get(secrets, ref)));
    assert.equal(spans[0]?.status.code, SpanStatusCode.ERROR);
    assert.equal(spans[0].attributes['error.type'], '409');
    assert.equal(spans[0].attributes['http.response.status_code'], 409);
    assert(!JSON.stringify([spans[0].attributes, spans[0].status, spans[0].events]).includes('hidden'));
  });

  test('is failed where no answer comes', async () => {
    const cut: Script = (_, response) => void response.destroy();
    const { spans } = await spansOf(cut, (kube) => assert.rejects(kube.get(secrets, ref)));
    assert.equal(spans[0]?.attributes['error.type'], 'NetworkError');
    assert(!('http.response.status_code' in spans[0].attributes));
  });

  test('is a child of the span in which it was asked for', async () => {
    const { spans } = await spansOf(
      (_, response) => answer(response, 200, secret),
      (kube) =>
        tracer().startActiveSpan('run', async (run) => {
          await Promise.all([kube.get(secrets, ref), kube.get(secrets, ref)]);
          run.end();
        }),
    );
    const run = spans.find(({ name }) => name === 'run')?.spanContext();
    const requests = spans.filter(({ kind }) => kind === SpanKind.CLIENT);
    assert.equal(requests.length, 2);
    for (const request of requests) {
      assert.equal(request.parentSpanContext?.spanId, run?.spanId);
      assert.equal(request.spanContext().traceId, run?.traceId);
    }
  });
});
