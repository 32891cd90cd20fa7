import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BodyMemory, sharedBodyMemory } from '../streams/body-memory.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { sendRaw } from '../../test/support/process/raw-http.ts';
import { type RequestHandler, readWholeBody } from './contract/request.ts';
import { createS3Server } from './s3-server.ts';
import { chunksOf } from '../objects/contract/body-source.ts';
import { createRequestListener } from './request-listener.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0)));
});

const nextRequestId = () => '0123456789ABCDEF';

async function serve(handle: RequestHandler, bodies?: BodyMemory): Promise<string> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const made = createS3Server({
    listener: createRequestListener({ handle, secure: false, nextRequestId, log, ...(bodies && { bodies }) }),
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

const inChunks = answering(async (body) => {
  let size = 0;
  for await (const chunk of chunksOf(body)) size += chunk.length;
  return size;
});
const late: RequestHandler = async (incoming) => {
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  return inChunks(incoming);
};
const readWhole = (body: Parameters<RequestHandler>[0]['body']) =>
  readWholeBody(body, { maxBytes: 10_000, tooLarge: () => new Error('too large') });
const atOnce = answering(async (body) => (await readWhole(body)).length);

it('chunks that are given back are freed, and no other one with them', async () => {
  const size = 1_000_000;
  const address = await serve(
    answering(async (body) => {
      let [sum, freed] = [0, 0];
      await body.pipe((chunk) => {
        for (const byte of chunk) sum += byte;
        body.giveBack?.(chunk);
        if (chunk.length === 0) freed += 1;
        return undefined;
      });
      expect(freed).toBeGreaterThan(1);
      return sum;
    }),
  );
  const answer = await fetch(address, { method: 'PUT', body: Buffer.alloc(size, 3) });
  expect(await answer.text()).toBe(`${3 * size} bytes`);
});

describe('the body of a request that announces none', () => {
  const request = 'PUT /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n';

  it('is empty when it is read in chunks', async () => {
    expect(await sendRaw(await serve(inChunks), request)).toMatchObject({ status: 200, body: '0 bytes' });
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
    ['in chunks', inChunks],
    ['at once', atOnce],
  ])('is empty when it is read %s', async (_, handle) => {
    const request = 'PUT /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    expect(await sendRaw(await serve(handle), request)).toMatchObject({ status: 200, body: '0 bytes' });
  });
});

/** Sends a body as clients do that read the answer only once they have sent all. */
async function sendAll(url: string, size: number): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const sent = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  socket.on('error', failed.reject);
  socket.on('close', () => failed.reject(new Error('the connection was closed before all was sent')));
  socket.pause();
  socket.write(`PUT /b/k HTTP/1.1\r\nHost: test\r\nAuthorization: x\r\nContent-Length: ${size}\r\n\r\n`);
  socket.write(Buffer.alloc(size), () => sent.resolve());
  await Promise.race([sent.promise, failed.promise]);
  failed.promise.catch(() => undefined);
  const answer = await text(socket);
  return answer.slice(0, answer.indexOf('\r\n'));
}

const refusing = (read: (body: Parameters<RequestHandler>[0]['body']) => Promise<unknown>): RequestHandler => {
  return async ({ body }) => {
    await read(body);
    return { status: 507, headers: {}, body: { kind: 'empty' } };
  };
};

const failLater = (body: Parameters<RequestHandler>[0]['body'], take: () => Promise<void> | undefined) => {
  const first = Promise.withResolvers<void>();
  void body
    .pipe(() => {
      first.resolve();
      return take();
    })
    .catch(() => undefined);
  return first.promise;
};
const failAfter = async (ms: number) => {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  throw new Error('no room');
};

function refuseSecond(): () => undefined {
  let chunks = 0;
  return () => {
    chunks += 1;
    if (chunks > 1) throw new Error('no room');
    return undefined;
  };
}

describe('the rest of a body whose reader has failed', () => {
  it.each<[string, Parameters<typeof refusing>[0]]>([
    [
      'between two chunks',
      async (body) => {
        const chunks = chunksOf(body);
        await chunks.next();
        await chunks.return(undefined);
      },
    ],
    ['and would refuse the next chunk', (body) => failLater(body, refuseSecond())],
    ['while it keeps a chunk', (body) => failLater(body, () => new Promise<void>(() => undefined))],
    ['and lets go of its chunk after the answer', (body) => failLater(body, () => failAfter(150))],
  ])('is read where it failed %s, so that the client sees the answer', async (_, read) => {
    // More than the system buffers, and less than is read of a refused body.
    expect(await sendAll(await serve(refusing(read)), 16 * 1024 * 1024)).toBe('HTTP/1.1 507 Insufficient Storage');
  });

  it('is read where it is small, so that the connection serves the next request', async () => {
    const size = 240 * 1024;
    let requests = 0;
    const url = await serve(async ({ body }) => {
      requests += 1;
      if (requests === 1) {
        const chunks = chunksOf(body);
        await chunks.next();
        await chunks.return(undefined);
      }
      return { status: requests === 1 ? 507 : 200, headers: {}, body: { kind: 'empty' } };
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(1024));
    socket.once('data', () => {
      socket.write(Buffer.alloc(size - 1024));
      socket.write('GET /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
    });
    const answers = await text(socket);
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 507', 'HTTP/1.1 200']);
  });
});

const ignore = () => undefined;

/** What becomes of reading a body whose client goes away after a part of it. */
async function cutOff(read: (body: Parameters<RequestHandler>[0]['body'], gone: Promise<void>) => Promise<unknown>) {
  const outcome = Promise.withResolvers<string>();
  const gone = Promise.withResolvers<void>();
  const url = await serve(async ({ body }) => {
    await read(body, gone.promise).then(
      () => outcome.resolve('read'),
      (error: unknown) => outcome.resolve(String(error)),
    );
    return { status: 200, headers: {}, body: { kind: 'empty' } };
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n0123456789', () =>
    socket.resetAndDestroy(),
  );
  socket.on('close', () => setTimeout(gone.resolve, 50));
  return outcome.promise;
}

describe('the body of a client that disconnected', () => {
  it.each<[string, Parameters<typeof cutOff>[0]]>([
    ['at once', async (body, gone) => gone.then(() => readWhole(body))],
    ['by pipe', async (body, gone) => gone.then(() => body.pipe(ignore))],
    ['in chunks', async (body, gone) => gone.then(() => Array.fromAsync(chunksOf(body)))],
  ])('fails where it is read %s afterwards', async (_, read) => {
    expect(await cutOff(read)).toMatch(/connection|aborted|closed/i);
  });

  it('does not fail while a chunk is still being taken', async () => {
    const order: string[] = [];
    const outcome = await cutOff(async (body, gone) => {
      const take = async () => {
        await gone;
        order.push('taken');
      };
      await body.pipe(take).finally(() => order.push('failed'));
    });
    expect(outcome).toMatch(/connection|aborted/i);
    expect(order).toEqual(['taken', 'failed']);
  });
});

describe('bodies that are held in memory', () => {
  it('are refused with SlowDown beyond the total', async () => {
    const { url } = await holding(100, atOnce);
    expect(await sendRaw(url, put(101))).toMatchObject({ status: 503, body: expect.stringContaining('SlowDown') });
  });

  it('count together, until they are answered', async () => {
    const first = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    let begun = 0;
    const { url, memory } = await holding(100, async (request) => {
      const answer = await atOnce(request);
      begun += 1;
      reading.resolve();
      if (begun === 1) await first.promise;
      return answer;
    });
    const held = sendRaw(url, put(60));
    await reading.promise;
    expect(await sendRaw(url, put(60))).toMatchObject({ status: 503 });
    expect(memory.held('known')).toBe(60);
    first.resolve();
    expect(await held).toMatchObject({ status: 200 });
    expect(memory.held('known')).toBe(0);
    expect(await sendRaw(url, put(60))).toMatchObject({ status: 200 });
  });

  it('do not count while they stream', async () => {
    const { url } = await holding(10, inChunks);
    expect(await sendRaw(url, put(1_000))).toMatchObject({ status: 200, body: '1000 bytes' });
  });

  it('of clients that go away count no more', async () => {
    const over = Promise.withResolvers<void>();
    const { url, memory } = await holding(100, (request) => atOnce(request).finally(() => setImmediate(over.resolve)));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 90\r\n\r\nabc', () => socket.destroy());
    await over.promise;
    await vi.waitFor(() => expect(memory.held('known')).toBe(0));
  });
});

/** A server that may hold so many bytes; what it holds is told after each answer. */
async function holding(known: number, handle: RequestHandler) {
  const memory = new BodyMemory(sharedBodyMemory(), { known, stranger: 0 });
  return { url: await serve(handle, memory), memory };
}

const put = (size: number) =>
  `PUT /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`;

describe('a client that closes the connection before the answer', () => {
  it.each(['GET', 'DELETE'])('is reported to an operation that takes long: %s', async (method) => {
    const noticed = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const url = await serve(async ({ body }) => {
      expect(body.senderGone?.()).toBe(false);
      began.resolve();
      await vi.waitUntil(() => body.senderGone?.() === true);
      noticed.resolve();
      return { status: 204, headers: {}, body: { kind: 'empty' } };
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`${method} /b HTTP/1.1\r\nHost: test\r\n\r\n`);
    await began.promise;
    socket.destroy();
    await noticed.promise;
  });
});
