import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  classify,
  ConnectionError,
  KubeClient,
  KubeError,
  MalformedLineError,
  type KubeObject,
  type RequestFacts,
  type ResourceType,
  type WatchEvent,
} from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { answer, ScriptedServer, withClient, type Script } from './scripted-server.ts';

const CONFIG_MAPS: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const SETS: ResourceType = { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true };
const REF = { namespace: 'shop', name: 'orders' };

function configMap(name = 'orders', more: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', ...more } };
}

const echo: Script = ({ body }, response) =>
  answer(response, 200, body === '' ? configMap() : { ...configMap(), ...JSON.parse(body) });

interface Row {
  readonly what: string;
  readonly send: (kube: KubeClient) => Promise<unknown>;
  readonly request: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: unknown;
}

const ROWS: readonly Row[] = [
  { what: 'get', send: (kube) => kube.get(CONFIG_MAPS, REF), request: 'GET /api/v1/namespaces/shop/configmaps/orders' },
  {
    what: 'get of metadata only',
    send: (kube) => kube.get(CONFIG_MAPS, REF, { metadataOnly: true }),
    request: 'GET /api/v1/namespaces/shop/configmaps/orders',
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  },
  {
    what: 'apply',
    send: (kube) => kube.apply(configMap(), { type: CONFIG_MAPS, fieldManager: 'plumbline' }),
    request: 'PATCH /api/v1/namespaces/shop/configmaps/orders?fieldManager=plumbline&fieldValidation=Strict',
    contentType: 'application/apply-patch+yaml',
    body: configMap(),
  },
  {
    what: 'apply, of which nothing but metadata is answered',
    send: (kube) => kube.apply(configMap(), { type: CONFIG_MAPS, fieldManager: 'plumbline', metadataOnly: true }),
    request: 'PATCH /api/v1/namespaces/shop/configmaps/orders?fieldManager=plumbline&fieldValidation=Strict',
    contentType: 'application/apply-patch+yaml',
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    body: configMap(),
  },
  {
    what: 'apply by force, dry, of the status',
    send: (kube) =>
      kube.apply(configMap(), { type: SETS, fieldManager: 'a b', force: true, dryRun: true, subresource: 'status' }),
    request:
      'PATCH /apis/apps/v1/namespaces/shop/statefulsets/orders/status?fieldManager=a+b&force=true&fieldValidation=Strict&dryRun=All',
    contentType: 'application/apply-patch+yaml',
    body: configMap(),
  },
  {
    what: 'create',
    send: (kube) => kube.create(configMap(), { type: CONFIG_MAPS, fieldManager: 'plumbline' }),
    request: 'POST /api/v1/namespaces/shop/configmaps?fieldManager=plumbline&fieldValidation=Strict',
    contentType: 'application/json',
    body: configMap(),
  },
  {
    what: 'delete',
    send: (kube) => kube.delete(SETS, REF, { uid: 'u', resourceVersion: '7', propagationPolicy: 'Orphan' }),
    request: 'DELETE /apis/apps/v1/namespaces/shop/statefulsets/orders',
    contentType: 'application/json',
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Orphan',
    },
  },
  ...(['merge', 'json', 'strategic'] as const).map((kind) => ({
    what: `${kind} patch`,
    send: (kube: KubeClient) =>
      kube.patch(CONFIG_MAPS, REF, { kind, body: { data: {} }, fieldManager: 'plumbline', subresource: 'status' }),
    request: 'PATCH /api/v1/namespaces/shop/configmaps/orders/status?fieldManager=plumbline&fieldValidation=Strict',
    contentType: kind === 'strategic' ? 'application/strategic-merge-patch+json' : `application/${kind}-patch+json`,
    body: { data: {} },
  })),
  { what: 'raw', send: (kube) => kube.raw('/version'), request: 'GET /version' },
];

for (const { what, send, request, contentType, accept = 'application/json', body } of ROWS) {
  test(`${what}: one request, as the API wants it`, async () => {
    await withClient(echo, async (kube, server) => {
      await send(kube);
      assert.equal(server.requests.length, 1);
      const [seen] = server.requests;
      assert.equal(`${seen?.method} ${seen?.url.pathname}${seen?.url.search}`, request);
      assert.equal(seen?.headers['content-type'], contentType);
      assert.equal(seen?.headers.accept, accept);
      assert.match(seen?.headers['user-agent'] ?? '', /^plumbline\/\d+\.\d+\.\d+/);
      assert.deepEqual(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? ''), body);
    });
  });
}

test('an apply says whether it created the object, and nothing of the answer is lost', async () => {
  let status = 201;
  const object = configMap('orders', { somethingNew: { deep: [1, null, 'ß'] } });
  await withClient(
    (_, response) => answer(response, status, object),
    async (kube) => {
      const created = await kube.apply(configMap(), { type: CONFIG_MAPS, fieldManager: 'a' });
      assert.deepEqual(created, { object, isCreated: true });
      status = 200;
      assert.equal((await kube.apply(configMap(), { type: CONFIG_MAPS, fieldManager: 'a' })).isCreated, false);
    },
  );
});

test('a list comes by pages, and each object gets the name of its type, which lists leave out', async () => {
  const pages: Script = ({ url }, response) => {
    const at = Number(url.searchParams.get('continue') ?? 0);
    const next = at < 2 ? String(at + 1) : '';
    answer(response, 200, {
      metadata: { resourceVersion: '99', continue: next },
      items: [{ metadata: { name: `c${at}` } }],
    });
  };
  await withClient(pages, async (kube, server) => {
    const names: string[] = [];
    for await (const page of kube.list(CONFIG_MAPS, {
      namespace: 'shop',
      labelSelector: 'a=b',
      limit: 1,
      metadataOnly: true,
    })) {
      assert.equal(page.resourceVersion, '99');
      names.push(...page.items.map((item) => `${item.apiVersion} ${item.kind} ${item.metadata.name}`));
    }
    assert.deepEqual(names, ['v1 ConfigMap c0', 'v1 ConfigMap c1', 'v1 ConfigMap c2']);
    const urls = server.requests.map(({ url }) => url.pathname + url.search);
    assert.deepEqual(urls, [
      '/api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=1',
      '/api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=1&continue=1',
      '/api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=1&continue=2',
    ]);
    assert.equal(
      server.requests[0]?.headers.accept,
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    );
  });
});

test('an empty list is null items; a list that is left early asks for no more pages', async () => {
  await withClient(
    (_, response) => answer(response, 200, { metadata: { resourceVersion: '1', continue: 'more' }, items: null }),
    async (kube, server) => {
      for await (const page of kube.list(CONFIG_MAPS)) {
        assert.deepEqual(page.items, []);
        break;
      }
      assert.equal(server.requests.length, 1);
    },
  );
});

test('what is not what the API promises is an error that does not repeat it', async () => {
  const bodies = [
    '{"data":{"password":"hunter2"}}',
    '"hunter2"',
    'hunter2',
    '{"metadata":{},"items":{}}',
    '<html>hunter2</html>',
  ];
  for (const body of bodies) {
    await withClient(
      (_, response) => answer(response, 200, body),
      async (kube) => {
        for (const send of [kube.get(CONFIG_MAPS, REF), kube.list(CONFIG_MAPS).next()]) {
          await assert.rejects(send, (error) => {
            assert.equal(classify(error).kind, 'malformed-response', String(error));
            assert.doesNotMatch(String(error), /hunter2/);
            return true;
          });
        }
      },
    );
  }
});

test('a call without an answer fails after its time, whether nothing came or half of it', async () => {
  const silent: Script = ({ url }, response) => {
    if (url.pathname.endsWith('half')) response.write('{"metadata":');
  };
  const clock = new VirtualClock();
  await withClient(
    silent,
    async (kube, server) => {
      for (const [name, options, ms] of [
        ['orders', {}, 30_000],
        ['half', {}, 30_000],
        ['orders', { timeoutMs: 500 }, 500],
      ] as const) {
        const before = server.requests.length;
        const call = kube.get(CONFIG_MAPS, { ...REF, name }, options);
        const failed = assert.rejects(call, (error) => {
          assert.ok(error instanceof KubeError);
          assert.equal(error.status, undefined);
          assert.equal(classify(error).kind, 'timeout');
          assert.match(error.message, /^get ConfigMap shop\/\w+: no answer within \d+(\.5)? s from http/);
          return true;
        });
        while (server.requests.length === before) await sleep(1);
        await clock.advance(ms - 1);
        await sleep(20);
        await clock.advance(1);
        await failed;
      }
    },
    { clock },
  );
  assert.equal(clock.sleeping, 0);
});

test("an aborted call throws its signal's own reason and takes no connection with it", async () => {
  const silent: Script = ({ url }, response) => {
    if (url.pathname === '/version') answer(response, 200, {});
  };
  await withClient(silent, async (kube, server) => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const call = kube.get(CONFIG_MAPS, REF, { signal: stop.signal });
    while (server.requests.length === 0) await sleep(1);
    stop.abort(reason);
    await assert.rejects(call, (error) => error === reason);
    await assert.rejects(
      kube.get(CONFIG_MAPS, REF, { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    );
    assert.equal(server.requests.length, 1);
    await kube.raw('/version');
  });
});

test('a signal that lives as long as the process gathers no listeners', async () => {
  const script: Script = ({ url }, response) => {
    if (url.searchParams.has('watch')) response.end();
    else answer(response, url.pathname.endsWith('gone') ? 404 : 200, configMap());
  };
  await withClient(script, async (kube) => {
    const { signal } = new AbortController();
    for (let round = 0; round < 20; round += 1) {
      await kube.get(CONFIG_MAPS, REF, { signal });
      await kube.get(CONFIG_MAPS, { ...REF, name: 'gone' }, { signal }).catch(() => undefined);
      await watch(kube, signal);
    }
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});

test('a server that is away, and one that hangs up, are told apart and both are the network', async () => {
  const server = await ScriptedServer.start((_, response) => void response.destroy());
  const connection = await server.connect();
  const kube = new KubeClient(connection);
  await assert.rejects(kube.get(CONFIG_MAPS, REF), (error) => {
    assert.equal(classify(error).kind, 'network');
    assert.match(String(error), /get ConfigMap shop\/orders: other side closed/);
    return true;
  });
  await server.stop();
  await assert.rejects(kube.get(CONFIG_MAPS, REF), (error) => {
    assert.ok(error instanceof KubeError);
    assert.equal(classify(error).kind, 'network');
    assert.ok(error.cause instanceof ConnectionError);
    assert.match(error.message, /cannot reach the API server at http:.*nothing listens there/);
    return true;
  });
  await connection.close();
});

test('each request is reported once: pages one by one, a watch when it opens, failures with their reason', async () => {
  const facts: RequestFacts[] = [];
  const script: Script = ({ method, url }, response) => {
    if (url.searchParams.has('watch')) response.end();
    else if (method === 'DELETE') answer(response, 404, { reason: 'NotFound', details: { name: 'orders' } });
    else if (url.pathname.endsWith('configmaps')) {
      const next = url.searchParams.has('continue') ? '' : 'x';
      answer(response, 200, { metadata: { resourceVersion: '1', continue: next }, items: [] });
    } else answer(response, 200, configMap());
  };
  await withClient(
    script,
    async (kube) => {
      await kube.get(CONFIG_MAPS, REF);
      for await (const page of kube.list(CONFIG_MAPS)) void page;
      await kube.delete(CONFIG_MAPS, REF).catch(() => undefined);
      for await (const event of kube.watch(CONFIG_MAPS, { resourceVersion: '1', timeoutSeconds: 1 })) void event;
      await kube.raw('/version');
      await kube.get(CONFIG_MAPS, REF, { signal: AbortSignal.abort() }).catch(() => undefined);
    },
    { onRequest: (fact) => facts.push(fact) },
  );
  assert.deepEqual(
    facts.map(({ verb, type, status, reason }) => [verb, type?.kind, status, reason]),
    [
      ['get', 'ConfigMap', 200, undefined],
      ['list', 'ConfigMap', 200, undefined],
      ['list', 'ConfigMap', 200, undefined],
      ['delete', 'ConfigMap', 404, 'NotFound'],
      ['watch', 'ConfigMap', 200, undefined],
      ['raw', undefined, 200, undefined],
      ['get', 'ConfigMap', undefined, 'Aborted'],
    ],
  );
  assert.ok(facts.every(({ ms }) => ms >= 0 && ms < 10_000));
});

async function watch(kube: KubeClient, signal?: AbortSignal): Promise<{ events: WatchEvent[]; error: unknown }> {
  const events: WatchEvent[] = [];
  try {
    const options = { namespace: 'shop', resourceVersion: '5', timeoutSeconds: 300, labelSelector: 'a=b', signal };
    for await (const event of kube.watch(CONFIG_MAPS, options)) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

test('a watch asks for bookmarks and gives each event until the server ends it', async () => {
  const script: Script = (_, response) => {
    response.write(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } })}\n`);
    response.write(
      `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: '9' } } })}\n`,
    );
    response.end(`${JSON.stringify({ type: 'DELETED', object: configMap('b') })}\n`);
  };
  await withClient(script, async (kube, server) => {
    const { events, error } = await watch(kube);
    assert.equal(error, undefined);
    assert.deepEqual(events, [
      { type: 'ADDED', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } },
      { type: 'BOOKMARK', resourceVersion: '9' },
      { type: 'DELETED', object: configMap('b') },
    ]);
    assert.equal(
      server.requests[0]?.url.search,
      '?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300&labelSelector=a%3Db',
    );
  });
});

test('each way in which a watch can fail is an error of its own, after the events before it', async () => {
  const good = `${JSON.stringify({ type: 'ADDED', object: configMap('a') })}\n`;
  const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' };
  const rows: readonly (readonly [string, Script, string, number])[] = [
    ['refused', (_, response) => answer(response, 410, expired), 'expired', 0],
    [
      'ERROR event',
      (_, response) => response.end(`${good}${JSON.stringify({ type: 'ERROR', object: expired })}\n`) && undefined,
      'expired',
      1,
    ],
    ['broken line', (_, response) => response.end(`${good}{"type":"ADD\n`) && undefined, 'watch-broken', 1],
    ['cut line', (_, response) => response.end(`${good}{"type":"ADD`) && undefined, 'watch-broken', 1],
    [
      'unknown event',
      (_, response) => response.end(`${good}{"type":"RENAMED","object":{}}\n`) && undefined,
      'watch-broken',
      1,
    ],
    ['no object', (_, response) => response.end(`${good}{"type":"ADDED"}\n`) && undefined, 'watch-broken', 1],
    [
      'hung up',
      (_, response) => void response.write(good, () => setTimeout(() => response.destroy(), 200)),
      'watch-broken',
      1,
    ],
  ];
  for (const [what, script, kind, count] of rows) {
    await withClient(script, async (kube) => {
      const { events, error } = await watch(kube);
      assert.equal(events.length, count, what);
      assert.equal(classify(error).kind, kind, `${what}: ${String(error)}`);
      if (what === 'broken line') assert.ok(error instanceof Error && error.cause instanceof MalformedLineError);
    });
  }
});

test('a watch that nobody opens fails after its time; an open one may be silent for longer', async () => {
  const clock = new VirtualClock();
  let isOpening = false;
  const script: Script = (_, response) => {
    if (isOpening) response.flushHeaders();
  };
  await withClient(
    script,
    async (kube, server) => {
      const unopened = watch(kube);
      while (server.requests.length === 0) await sleep(1);
      await clock.advance(30_000);
      assert.equal(classify((await unopened).error).kind, 'timeout');

      isOpening = true;
      const stop = new AbortController();
      const open = watch(kube, stop.signal);
      while (clock.sleeping > 0 || server.requests.length === 1) await sleep(1);
      await clock.advance(80_000);
      const reason = new Error('silent');
      stop.abort(reason);
      assert.equal((await open).error, reason);
    },
    { clock },
  );
});

test('a watch that is left early closes its connection', async () => {
  const closed = Promise.withResolvers<void>();
  const script: Script = (_, response) => {
    response.once('close', () => closed.resolve());
    response.write(`${JSON.stringify({ type: 'ADDED', object: configMap('a') })}\n`);
  };
  await withClient(script, async (kube) => {
    for await (const event of kube.watch(CONFIG_MAPS, { resourceVersion: '1', timeoutSeconds: 300 })) {
      assert.equal(event.type, 'ADDED');
      break;
    }
    await closed.promise;
  });
});

test('what only the leader may ask is not sent by anybody else, and is no request', async () => {
  let isLeading = true;
  const facts: RequestFacts[] = [];
  const mayAsk = (): boolean => isLeading;
  await withClient(
    echo,
    async (kube, server) => {
      await kube.get(CONFIG_MAPS, REF);
      isLeading = false;
      const late = [
        () => kube.get(CONFIG_MAPS, REF),
        () => kube.apply(configMap(), { type: CONFIG_MAPS, fieldManager: 'plumbline' }),
        () => kube.delete(SETS, REF),
        () => kube.watch(SETS, { resourceVersion: '1', timeoutSeconds: 1 }).next(),
      ];
      for (const ask of late) {
        await assert.rejects(ask, (error) => classify(error).kind === 'not-leading');
      }
      assert.deepEqual([server.requests.length, facts.length], [1, 1]);
    },
    { mayAsk, onRequest: (one) => facts.push(one) },
  );
});
