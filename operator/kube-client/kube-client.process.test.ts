import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { KubeError, type KubeObject, type WatchEvent } from './kube-api.ts';
import { KubeClient, type KubeClientOptions } from './kube-client.ts';
import { resourceTypes } from './resource-types.ts';

interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  readonly remotePort: number | undefined;
}

let server: Server | undefined;
let client: KubeClient | undefined;

afterEach(() => {
  client?.close();
  server?.closeAllConnections();
  server?.close();
});

/** A client of a server that answers by `answer`, and what the server has seen. */
async function start(answer: (response: ServerResponse, seen: Seen) => void, options: KubeClientOptions = {}) {
  const seen: Seen[] = [];
  const http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const one: Seen = {
        method: request.method ?? '',
        url: new URL(request.url ?? '', 'http://server'),
        headers: request.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
        remotePort: request.socket.remotePort,
      };
      seen.push(one);
      answer(response, one);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  server = http;
  const { port } = http.address() as AddressInfo;
  client = new KubeClient(
    {
      server: new URL(`http://127.0.0.1:${port}`),
      tls: {},
      namespace: undefined,
      authorization: () => Promise.resolve('Bearer token-of-the-test'),
    },
    options,
  );
  return { client, seen };
}

function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'red', resourceVersion: '7' },
});

async function all(events: AsyncIterable<WatchEvent>, got: WatchEvent[] = []): Promise<WatchEvent[]> {
  for await (const event of events) got.push(event);
  return got;
}

describe('KubeClient', () => {
  it('applies JSON as the field manager, by force, with unknown fields refused', async () => {
    const { client, seen } = await start((response, { body }) => json(response, body));
    await client.apply(pod('a'));
    expect(seen[0]).toMatchObject({ method: 'PATCH', body: pod('a') });
    expect(seen[0]?.url.pathname).toBe('/api/v1/namespaces/red/pods/a');
    expect(Object.fromEntries(seen[0]?.url.searchParams ?? [])).toEqual({
      fieldManager: 'coffer-operator',
      force: 'true',
      fieldValidation: 'Strict',
    });
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/apply-patch+yaml',
      authorization: 'Bearer token-of-the-test',
    });
  });

  it('applies a status on the subresource', async () => {
    const { client, seen } = await start((response, { body }) => json(response, body));
    await client.applyStatus({
      apiVersion: 'coffer.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'a', namespace: 'red' },
    });
    expect(seen[0]?.url.pathname).toBe('/apis/coffer.dev/v1alpha1/namespaces/red/tenants/a/status');
  });

  it('sends a merge patch', async () => {
    const { client, seen } = await start((response) => json(response, pod('a')));
    await client.patch(resourceTypes.pod, 'red', 'a', { metadata: { labels: { x: null } } });
    expect(seen[0]?.headers['content-type']).toBe('application/merge-patch+json');
    expect(seen[0]?.body).toEqual({ metadata: { labels: { x: null } } });
  });

  it('deletes with preconditions', async () => {
    const { client, seen } = await start((response) => json(response, { kind: 'Status', status: 'Success' }));
    await client.delete(resourceTypes.pod, 'red', 'a', { uid: 'u', gracePeriodSeconds: 5 });
    expect(seen[0]?.body).toMatchObject({ preconditions: { uid: 'u' }, gracePeriodSeconds: 5 });
  });

  it('resolves when what it deletes is gone already', async () => {
    const { client } = await start((response) => json(response, { kind: 'Status', reason: 'NotFound' }, 404));
    await expect(client.delete(resourceTypes.pod, 'red', 'a')).resolves.toBeUndefined();
  });

  it('gives undefined for an object that is not there', async () => {
    const { client } = await start((response) => json(response, { kind: 'Status', reason: 'NotFound' }, 404));
    await expect(client.get(resourceTypes.pod, 'red', 'a')).resolves.toBeUndefined();
  });

  it.each(['404 page not found', '<html>Not Found</html>', '', '{"kind":"Error","reason":"NotFound"}'])(
    'takes no object for missing on the 404 of a proxy: %s',
    async (body) => {
      const { client } = await start((response) => response.writeHead(404).end(body));
      const failed = { name: 'KubeError', status: 404, reason: 'UnknownStatus' };
      await expect(client.get(resourceTypes.pod, 'red', 'a')).rejects.toMatchObject(failed);
      await expect(client.delete(resourceTypes.pod, 'red', 'a')).rejects.toMatchObject(failed);
    },
  );

  it('gives items of a list their type, which the server leaves out', async () => {
    const { client, seen } = await start((response) =>
      json(response, { metadata: { resourceVersion: '9', continue: 'more' }, items: [{ metadata: { name: 'a' } }] }),
    );
    const list = await client.list(resourceTypes.statefulSet, { limit: 1, labelSelector: 'x=y' });
    expect(list).toEqual({
      items: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a' } }],
      resourceVersion: '9',
      continue: 'more',
    });
    expect(seen[0]?.url.pathname + (seen[0]?.url.search ?? '')).toBe(
      '/apis/apps/v1/statefulsets?labelSelector=x%3Dy&limit=1',
    );
  });

  it('turns a Status answer into an error with its reason and when to come back', async () => {
    const { client } = await start((response) =>
      json(
        response,
        { kind: 'Status', reason: 'TooManyRequests', message: 'slow down', details: { retryAfterSeconds: 3 } },
        429,
      ),
    );
    await expect(client.create(pod('a'))).rejects.toMatchObject({
      name: 'KubeError',
      status: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 3000,
    });
  });

  it('names the reason of an answer that is no Status, without repeating its body', async () => {
    const { client } = await start((response) => {
      response.writeHead(503, { 'retry-after': '2' });
      response.end('<html>a proxy</html>');
    });
    const error = await client.get(resourceTypes.pod, 'red', 'a').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 503, reason: 'ServiceUnavailable', retryAfterMs: 2000 });
    expect((error as Error).message).not.toContain('html');
  });

  it('gives up a call that is not answered in time', async () => {
    const { client } = await start(() => undefined, { timeoutMs: 50 });
    await expect(client.get(resourceTypes.pod, 'red', 'a')).rejects.toMatchObject({
      reason: 'Timeout',
      status: undefined,
    });
  });

  it('tells that the server cannot be reached', async () => {
    const { client } = await start((response) => response.destroy());
    await expect(client.create(pod('a'))).rejects.toMatchObject({ reason: 'Unreachable', status: undefined });
  });

  it('refuses an answer that is no JSON', async () => {
    const { client } = await start((response) => response.end('OK'));
    await expect(client.get(resourceTypes.pod, 'red', 'a')).rejects.toMatchObject({ reason: 'MalformedAnswer' });
  });

  it('uses one connection again and again', async () => {
    const { client, seen } = await start((response) => json(response, pod('a')));
    for (let call = 0; call < 3; call++) await client.get(resourceTypes.pod, 'red', 'a');
    expect(new Set(seen.map(({ remotePort }) => remotePort)).size).toBe(1);
  });

  it('asks again where the server closed a kept connection while the request was on its way', async () => {
    let calls = 0;
    const { client } = await start((response) => {
      calls++;
      if (calls === 2) response.socket?.resetAndDestroy();
      else json(response, pod('a'));
    });
    await client.get(resourceTypes.pod, 'red', 'a');
    await expect(client.apply(pod('a'))).resolves.toMatchObject({ kind: 'Pod' });
    expect(calls).toBe(3);
  });

  it('asks again also for a call that waited for a connection', async () => {
    // The client has 16 connections.
    const first: ServerResponse[] = [];
    let calls = 0;
    const { client } = await start((response) => {
      calls++;
      if (calls <= 16) first.push(response);
      if (calls === 16) for (const one of first) json(one, pod('a'));
      if (calls === 17) response.socket?.resetAndDestroy();
      if (calls === 18) json(response, pod('a'));
    });
    await Promise.all(Array.from({ length: 17 }, () => client.get(resourceTypes.pod, 'red', 'a')));
    expect(calls).toBe(18);
  });

  it('evicts a pod by its subresource', async () => {
    const { client, seen } = await start((response) => json(response, { kind: 'Status', status: 'Success' }));
    await client.evict('red', 'a');
    expect(seen[0]?.url.pathname).toBe('/api/v1/namespaces/red/pods/a/eviction');
    expect(seen[0]?.body).toMatchObject({ apiVersion: 'policy/v1', kind: 'Eviction' });
  });

  it('reads the end of a log', async () => {
    const { client, seen } = await start((response) => response.end('one\ntwo\n'));
    await expect(client.log('red', 'a', { tailLines: 2, previous: true })).resolves.toBe('one\ntwo\n');
    expect(seen[0]?.url.search).toBe('?tailLines=2&previous=true');
  });
});

function watch(client: KubeClient, signal?: AbortSignal): AsyncIterable<WatchEvent> {
  const options = { namespace: 'red', resourceVersion: '5', timeoutSeconds: 300 };
  return client.watch(resourceTypes.pod, signal === undefined ? options : { ...options, signal });
}

describe('a watch', () => {
  it('reads events over chunks that are cut anywhere', async () => {
    const { client, seen } = await start((response) => {
      const lines = `${JSON.stringify({ type: 'ADDED', object: pod('käfer') })}\n${JSON.stringify({
        type: 'BOOKMARK',
        object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '12' } },
      })}\n`;
      for (const byte of Buffer.from(lines)) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await all(watch(client))).toEqual([
      { type: 'ADDED', object: pod('käfer') },
      { type: 'BOOKMARK', resourceVersion: '12' },
    ]);
    expect(Object.fromEntries(seen[0]?.url.searchParams ?? [])).toMatchObject({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '5',
      timeoutSeconds: '300',
    });
  });

  it('errors with what an ERROR event says', async () => {
    const { client } = await start((response) => {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    });
    await expect(all(watch(client))).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });

  it('gives up a connection that fell silent', async () => {
    const { client } = await start(
      (response) => response.write(`${JSON.stringify({ type: 'ADDED', object: pod('a') })}\n`),
      // A busy machine needs a part of it for the connection and the first event.
      { watchInactivityMs: 3_000 },
    );
    const got: WatchEvent[] = [];
    await expect(all(watch(client), got)).rejects.toMatchObject({ reason: 'Timeout' });
    expect(got).toHaveLength(1);
  });

  it('ends by its signal', async () => {
    const { client } = await start((response) => response.flushHeaders());
    const stop = new AbortController();
    const ended = all(watch(client, stop.signal));
    stop.abort();
    await expect(ended).rejects.toMatchObject({ reason: 'Aborted' });
  });

  it('passes over a line that was cut off', async () => {
    const { client } = await start((response) => response.end(`{"type":"ADDED","obj`));
    expect(await all(watch(client))).toEqual([]);
  });

  it('tells a connection that broke', async () => {
    const { client } = await start((response) => {
      response.write('{');
      response.destroy();
    });
    await expect(all(watch(client))).rejects.toBeInstanceOf(KubeError);
  });
});
