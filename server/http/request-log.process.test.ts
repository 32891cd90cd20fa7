import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { RequestHandler } from './contract/request.ts';
import { createDispatch } from '../process/dispatch.ts';
import { createS3Server } from './s3-server.ts';
import { createRequestListener } from './request-listener.ts';
import type { Readiness } from '../process/answer-health.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(() => Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0))));

const nextRequestId = () => '0123456789ABCDEF';

/** The levels of the lines that requests for an object leave in the log, and what the last one was answered. */
async function linesOf(
  readiness: Readiness,
  s3: RequestHandler,
  init: RequestInit = {},
  requests = 1,
): Promise<{ status: number; levels: string[] }> {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ name: 'test', level: requests > 1 ? 'info' : 'debug', stream });
  const handlers = { s3, sts: s3, admin: s3 };
  const handle = createDispatch({ readiness: () => readiness, handlers: () => handlers, metrics: s3 });
  const made = createS3Server({
    listener: createRequestListener({ handle, secure: false, nextRequestId, log }),
    nextRequestId,
  });
  servers.push(made);
  await new Promise<void>((resolve) => {
    made.server.listen(0, '127.0.0.1', resolve);
  });
  let status = 0;
  for (let request = 0; request < requests; request += 1) {
    const answer = await fetch(`http://127.0.0.1:${(made.server.address() as AddressInfo).port}/b/k`, init);
    await answer.text();
    status = answer.status;
  }
  const refusals = lines.map((line) => JSON.parse(line) as { level: string; code?: string });
  return { status, levels: refusals.filter(({ code }) => code !== undefined).map(({ level }) => level) };
}

const slow: RequestHandler = () => Promise.reject(new S3Error('SlowDown'));
const damaged: RequestHandler = () => Promise.reject(new Error('the stored bytes of b/k are damaged'));
const unavailable: RequestHandler = () => Promise.reject(new S3Error('ServiceUnavailable'));

describe('the log of requests', () => {
  it.each([{ kind: 'refusing' }, { kind: 'waiting', waitsFor: 'key-service', reason: 'the key service' }] as const)(
    'keeps quiet about what is refused while the server is $kind',
    async (readiness) => {
      expect(await linesOf(readiness, unavailable)).toEqual({ status: 503, levels: ['debug'] });
    },
  );

  it('keeps quiet about what a client is to repeat, such as a forced deletion that goes on', async () => {
    expect(await linesOf({ kind: 'ready' }, slow)).toEqual({ status: 503, levels: ['debug'] });
  });

  it('reports what fails while the server serves', async () => {
    expect(await linesOf({ kind: 'ready' }, unavailable)).toEqual({ status: 503, levels: ['error'] });
  });

  it('reports what fails before the body was read: the client is still there', async () => {
    const upload = { method: 'PUT', body: 'unread' };
    expect(await linesOf({ kind: 'ready' }, unavailable, upload)).toEqual({ status: 503, levels: ['error'] });
  });

  it('leaves lines out when requests fail again and again in the same way', async () => {
    expect(await linesOf({ kind: 'ready' }, unavailable, {}, 40)).toEqual({
      status: 503,
      levels: Array(5).fill('error'),
    });
  });

  it('names each damaged object', async () => {
    expect(await linesOf({ kind: 'ready' }, damaged, {}, 40)).toEqual({ status: 500, levels: Array(40).fill('error') });
  });
});
