import { describe, expect, it } from 'vitest';
import type { Answer, RequestHandler, IncomingRequest } from '../http/contract/request.ts';
import { answerFailure, createDispatch } from './dispatch.ts';
import { isNotServing, notServing } from '../http/contract/not-serving.ts';
import { Freezer } from './freezer.ts';
import type { Readiness } from './answer-health.ts';

const answer: Answer = { status: 200, headers: {}, body: { kind: 'empty' } };
const request = {} as Parameters<RequestHandler>[0];
const room: RequestHandler = () => Promise.resolve(answer);

const named = (api: string): RequestHandler => {
  return () => Promise.resolve({ ...answer, headers: { api } });
};

describe('a request of virtual-host style', () => {
  it.each([
    ['GET', '/minio/health/live', ''],
    ['GET', '/minio/v2/metrics/cluster', ''],
    ['GET', '/minio/admin/v3/info', ''],
    ['POST', '/', ''],
    ['POST', '/', 'Action=AssumeRole'],
  ])('is for S3, whatever its path is: %s %s?%s', async (method, rawPath, rawQuery) => {
    const dispatch = createDispatch({
      readiness: () => ({ kind: 'ready' }),
      handlers: () => ({ s3: named('s3'), sts: named('sts'), admin: named('admin') }),
      metrics: named('metrics'),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = { ...request, method, rawPath, rawQuery, headers };
    const hosted = await dispatch({ ...form, hostStyle: { kind: 'bucket', bucket: 'photos' } });
    expect(hosted.headers).toEqual({ api: 's3' });
    expect((await dispatch(form)).headers).not.toEqual({ api: 's3' });
  });

  it('gets the errors of S3', () => {
    const rejected = { ...request, method: 'GET', rawPath: '/minio/admin/v3/info', rawQuery: '', headers: {} };
    const error = notServing();
    expect(answerFailure(error, rejected).headers).toMatchObject({ 'content-type': 'application/json' });
    const hosted = { ...rejected, hostStyle: { kind: 'bucket', bucket: 'photos' } } as const;
    expect(answerFailure(error, hosted).headers).toMatchObject({ 'content-type': 'application/xml' });
  });
});

describe('a frozen server', () => {
  it('holds requests until it is thawed', async () => {
    const freezer = new Freezer();
    const handle = freezer.guard(room);
    freezer.set(true);
    let answered = false;
    const held = handle(request).then(() => (answered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    freezer.set(false);
    await held;
    expect(await handle(request)).toBe(answer);
  });

  it('answers SlowDown after a long wait', async () => {
    const freezer = new Freezer({ timeoutMs: 5 });
    freezer.set(true);
    await expect(freezer.guard(room)(request)).rejects.toMatchObject({ code: 'SlowDown' });
  });

  it('holds only so many', async () => {
    const freezer = new Freezer({ maxHeld: 1 });
    const handle = freezer.guard(room);
    freezer.set(true);
    const held = handle(request);
    await expect(handle(request)).rejects.toMatchObject({ code: 'SlowDown' });
    freezer.set(false);
    expect(await held).toBe(answer);
    expect(await handle(request)).toBe(answer);
  });
});

const done = () => Promise.resolve({ status: 200, headers: {}, body: { kind: 'empty' } } as const);

function answerTo(target: string, readiness: Readiness, failing: readonly string[] = [], others = 0) {
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const dispatch = createDispatch({
    readiness: () => readiness,
    handlers: () => ({ s3: done, sts: done, admin: done }),
    metrics: done,
    failingTasks: () => failing,
    others: () => others,
  });
  const request = {
    requestId: '1',
    method: 'GET',
    rawPath,
    rawQuery,
    headers: {},
    secure: false,
    remoteAddress: '',
  };
  return dispatch({ ...request, body: {} as IncomingRequest['body'] });
}

function statusOf(rawPath: string, readiness: Readiness): Promise<number | 'refused'> {
  return answerTo(rawPath, readiness).then(
    ({ status }) => status,
    (error: unknown) => {
      if (isNotServing(error)) return 'refused';
      throw error;
    },
  );
}

const cases: readonly [Readiness, object][] = [
  [
    { kind: 'waiting', waitsFor: 'key-service', reason: 'no route to 10.0.0.7' },
    { live: 200, ready: 503, s3: 'refused' },
  ],
  // A probe that another thread answered may have let clients come.
  [{ kind: 'serving' }, { live: 200, ready: 503, s3: 200 }],
  [{ kind: 'ready' }, { live: 200, ready: 200, s3: 200 }],
  [{ kind: 'stopping' }, { live: 200, ready: 503, s3: 200 }],
  [{ kind: 'refusing' }, { live: 200, ready: 503, s3: 'refused' }],
];

describe('probes and requests', () => {
  it.each(cases)('of a server in state %j', async (readiness, expected) => {
    expect({
      live: await statusOf('/minio/health/live', readiness),
      ready: await statusOf('/minio/health/ready', readiness),
      s3: await statusOf('/bucket/key', readiness),
    }).toEqual(expected);
  });

  it.each<[Readiness, string | undefined]>([
    [{ kind: 'waiting', waitsFor: 'database', reason: 'no route to 10.0.0.7' }, 'database'],
    [{ kind: 'serving' }, 'start'],
    [{ kind: 'stopping' }, undefined],
    [{ kind: 'refusing' }, undefined],
  ])('say in one word what a server in state %j waits for, and no more', async (readiness, word) => {
    for (const path of ['ready', 'cluster', 'cluster/read']) {
      const { status, headers, body } = await answerTo(`/minio/health/${path}`, readiness);
      expect([status, headers['x-coffer-waiting-for'], body.kind]).toEqual([503, word, 'empty']);
      expect(JSON.stringify(headers)).not.toContain('10.0.0.7');
    }
    expect((await answerTo('/minio/health/live', readiness)).headers).toEqual({});
  });

  it.each(['/bucket/key', '/minio/admin/v3/info'])(
    'say to a request for %s what the server waits for',
    async (path) => {
      const readiness = { kind: 'waiting', waitsFor: 'key-service', reason: 'no route to 10.0.0.7' } as const;
      await expect(answerTo(path, readiness)).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        message: 'The server is not ready: it waits for the key service. Please try again.',
        headers: { 'x-coffer-waiting-for': 'key-service' },
      });
    },
  );

  it.each([
    ['cluster?maintenance=true', 0, 412],
    ['cluster/read?maintenance=true', 0, 412],
    ['cluster?maintenance=true', 1, 200],
    ['cluster?maintenance=false', 0, 200],
    ['cluster', 0, 200],
    ['ready?maintenance=true', 0, 200],
  ])('say whether the server may be stopped: %s with %d others', async (path, others, status) => {
    expect(await answerTo(`/minio/health/${path}`, { kind: 'ready' }, [], others)).toMatchObject({ status });
  });

  it('say that a server which waits is not ready, also before its maintenance', async () => {
    const waiting = { kind: 'waiting', waitsFor: 'database', reason: '' } as const;
    expect(await statusOf('/minio/health/cluster?maintenance=true', waiting)).toBe(503);
  });

  it('name the background tasks that fail, and are answered 200 all the same', async () => {
    const failing = ['scrub', 'usage'];
    const ready = await answerTo('/minio/health/ready', { kind: 'ready' }, failing);
    expect(ready).toMatchObject({ status: 200, headers: { 'x-coffer-failing-tasks': 'scrub, usage' } });
    expect(await answerTo('/minio/health/live', { kind: 'ready' }, failing)).toMatchObject({
      status: 200,
      headers: {},
    });
  });
});
