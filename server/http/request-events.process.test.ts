import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { type Answer, type RequestHandler, RequestEvents, type FinishedRequest } from './contract/request.ts';
import { headersOfList } from './contract/request-audit.ts';
import { createDispatch } from '../process/dispatch.ts';
import { createS3Server } from './s3-server.ts';
import { chunksOf } from '../objects/contract/body-source.ts';
import { ownChunks } from '../streams/chunks.ts';
import { createRequestListener } from './request-listener.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(() => Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0))));

const nextRequestId = () => '0123456789ABCDEF';

async function serving(s3: RequestHandler, events: RequestEvents): Promise<number> {
  const log = createLogger({ name: 'test', level: 'silent', stream: new PassThrough() });
  const handle = createDispatch({
    readiness: () => ({ kind: 'ready' }),
    handlers: () => ({ s3, sts: s3, admin: s3 }),
    metrics: s3,
  });
  const made = createS3Server({
    listener: createRequestListener({ handle, secure: false, nextRequestId, log, events }),
    nextRequestId,
  });
  servers.push(made);
  made.server.listen(0, '127.0.0.1');
  await once(made.server, 'listening');
  return (made.server.address() as AddressInfo).port;
}

const text = (status: number, words: string): Answer => ({
  status,
  headers: {},
  body: { kind: 'bytes', bytes: Buffer.from(words) },
});

/** Resolves with the first finished request after the subscription. */
function nextOf(events: RequestEvents): Promise<FinishedRequest> {
  return new Promise((resolve) => {
    const end = events.subscribe((finished) => {
      end();
      resolve(finished);
    });
  });
}

const reads: RequestHandler = async (request) => {
  request.audit?.setOperation('GetObject', { bucket: 'photos', key: 'a.jpg' });
  request.audit?.setPrincipal({ kind: 'root', accessKey: 'ROOT' });
  request.audit?.addDecision({ action: 's3:GetObject', resource: 'photos/a.jpg' }, { kind: 'allow', reason: 'root' });
  return text(200, 'whole');
};

describe('events of requests', () => {
  it('report what the handlers found out, and how it ended', async () => {
    const events = new RequestEvents();
    const port = await serving(reads, events);
    const next = nextOf(events);
    await (await fetch(`http://127.0.0.1:${port}/photos/a.jpg?x=1`)).text();
    expect(await next).toMatchObject({
      request: { requestId: '0123456789ABCDEF', method: 'GET', rawPath: '/photos/a.jpg', rawQuery: 'x=1' },
      api: 's3',
      operation: 'GetObject',
      bucket: 'photos',
      key: 'a.jpg',
      principal: { kind: 'root', accessKey: 'ROOT' },
      decisions: [{ action: 's3:GetObject', resource: 'photos/a.jpg', decision: { kind: 'allow', reason: 'root' } }],
      decisionsLeftOut: 0,
      status: 200,
      outcome: 'answered',
      refusal: undefined,
    });
  });

  it('count the bytes of heads and bodies, on a connection that is used again too', async () => {
    const events = new RequestEvents();
    const port = await serving(async (request) => {
      for await (const _chunk of chunksOf(request.body));
      return text(200, 'whole');
    }, events);
    const socket = connect(port, '127.0.0.1');
    const sent = `PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345`;
    for (const _turn of [1, 2]) {
      const next = nextOf(events);
      let answered = 0;
      const onData = (chunk: Buffer) => {
        answered += chunk.length;
      };
      socket.on('data', onData);
      socket.write(sent);
      const finished = await next;
      while (answered < finished.sent) await once(socket, 'data');
      socket.off('data', onData);
      expect({ received: finished.received, sent: finished.sent }).toEqual({ received: sent.length, sent: answered });
    }
    socket.destroy();
  });

  it.each<[string, Answer['body'], string]>([
    ['a text', { kind: 'bytes', bytes: Buffer.from('whole') }, '5'],
    ['nothing', { kind: 'empty' }, '0'],
    ['chunks', { kind: 'chunks', size: 3, chunks: ownChunks(Readable.from([Buffer.from('abc')])) }, '3'],
  ])('have the headers of an answer with %s', async (_what, body, length) => {
    const events = new RequestEvents();
    const headers = { 'x-amz-server-side-encryption': 'AES256' };
    const port = await serving(async () => ({ status: 200, headers, body }), events);
    const next = nextOf(events);
    await (await fetch(`http://127.0.0.1:${port}/b/k`)).text();
    expect(headersOfList((await next).responseHeaders)).toMatchObject({
      ...headers,
      'content-length': length,
      'x-amz-request-id': '0123456789ABCDEF',
    });
  });

  it('have the headers of a refusal', async () => {
    const events = new RequestEvents();
    const port = await serving(() => Promise.reject(new S3Error('NoSuchBucket')), events);
    const next = nextOf(events);
    await (await fetch(`http://127.0.0.1:${port}/b/k`)).text();
    expect(headersOfList((await next).responseHeaders)).toMatchObject({ 'content-type': 'application/xml' });
  });

  it('report why a request was refused', async () => {
    const events = new RequestEvents();
    const port = await serving(() => Promise.reject(new S3Error('NoSuchBucket')), events);
    const next = nextOf(events);
    await (await fetch(`http://127.0.0.1:${port}/b/k`)).text();
    expect(await next).toMatchObject({ status: 404, outcome: 'answered', refusal: { code: 'NoSuchBucket' } });
  });

  it('name the API that answers, and none for probes', async () => {
    const events = new RequestEvents();
    const port = await serving(async () => text(200, ''), events);
    const handlers: string[] = [];
    for (const path of ['/b', '/minio/admin/v3/info', '/minio/health/live', '/minio/v2/metrics/node']) {
      const next = nextOf(events);
      await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
      handlers.push((await next).api);
    }
    expect(handlers).toEqual(['s3', 'admin', 'other', 'other']);
  });

  it('keep a hundred decisions of a request that needs more', async () => {
    const events = new RequestEvents();
    const port = await serving(async (request) => {
      for (let at = 0; at < 130; at++) {
        request.audit?.addDecision({ action: 's3:DeleteObject', resource: `b/${at}` }, { kind: 'deny', reason: 'no' });
      }
      return text(200, '');
    }, events);
    const next = nextOf(events);
    await (await fetch(`http://127.0.0.1:${port}/b?delete`, { method: 'POST' })).text();
    const { decisions, decisionsLeftOut } = await next;
    expect([decisions.length, decisionsLeftOut]).toEqual([100, 30]);
  });

  it('are not watched when no observer listens', async () => {
    const events = new RequestEvents();
    let watched: unknown = 'not asked';
    const port = await serving(async (request) => {
      watched = request.audit;
      return text(200, '');
    }, events);
    events.subscribe(() => undefined)();
    await (await fetch(`http://127.0.0.1:${port}/b`)).text();
    expect(watched).toBeUndefined();
  });
});
