import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/logger.ts';
import { sendRaw } from '../../test/harness/raw-http.ts';
import type { RequestHandler } from '../access/answer.ts';
import { createRequestListener } from './request-listener.ts';
import { createS3Server } from './s3-server.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0)));
});

const nextRequestId = () => '0123456789ABCDEF';

async function serve(handle: RequestHandler): Promise<string> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const made = createS3Server({
    listener: createRequestListener({ handle, secure: false, nextRequestId, log }),
    nextRequestId,
  });
  servers.push(made);
  await new Promise<void>((resolve) => {
    made.server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(made.server.address() as AddressInfo).port}`;
}

const answering = (read: (body: Parameters<RequestHandler>[0]['body']) => Promise<number>): RequestHandler => {
  return async ({ body }) => ({
    status: 200,
    headers: {},
    body: { kind: 'bytes', bytes: Buffer.from(`${await read(body)} bytes`) },
  });
};

const inPieces = answering(async (body) => {
  let size = 0;
  for await (const piece of body) size += piece.length;
  return size;
});
const late: RequestHandler = async (incoming) => {
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  return inPieces(incoming);
};
const atOnce = answering(async (body) => (await body.whole?.())?.length ?? -1);

describe('the body of a request that announces none', () => {
  const request = 'PUT /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n';

  it('is empty when it is read in pieces', async () => {
    expect(await sendRaw(await serve(inPieces), request)).toMatchObject({ status: 200, body: '0 bytes' });
  });

  it('is empty when it is read at once', async () => {
    expect(await sendRaw(await serve(atOnce), request)).toMatchObject({ status: 200, body: '0 bytes' });
  });

  it('is still empty when it is read after a while', async () => {
    expect(await sendRaw(await serve(late), request)).toMatchObject({ status: 200, body: '0 bytes' });
  });
});

describe('the body of a request that announces an empty one', () => {
  it.each([
    ['in pieces', inPieces],
    ['at once', atOnce],
  ])('is empty when it is read %s', async (_, handle) => {
    const request = 'PUT /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    expect(await sendRaw(await serve(handle), request)).toMatchObject({ status: 200, body: '0 bytes' });
  });
});
