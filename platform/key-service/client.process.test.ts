import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../tls/certificate-and-key.ts';
import { issueCertificate } from '../tls/issue-certificate.ts';
import { openKeyServiceClient, type KeyServiceClient, type KeyServiceClientOptions } from './client.ts';
import { listen } from '../http/listen.ts';
import { createLogger } from '../output/logger.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let folder: string;
let pair: CertificateAndKey;
let answer: Answer;
let otherAnswer: Answer;
let requests: string[];
let endpoint: string;
let otherEndpoint: string;
let now: number;
const servers: Server[] = [];
const clients: KeyServiceClient[] = [];

/** A double of the service that answers what a test tells it to. */
async function serve(name: string, answerOf: () => Answer): Promise<string> {
  const server = createServer(
    { cert: pair.certPem, key: pair.keyPem, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        requests.push(`${name} ${request.method} ${request.url}`);
        answerOf()(request, response, Buffer.concat(chunks).toString());
      });
    },
  );
  servers.push(server);
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' });
  return `https://127.0.0.1:${port}`;
}

async function open(more: Partial<KeyServiceClientOptions> = {}): Promise<KeyServiceClient> {
  const client = await openKeyServiceClient({
    endpoints: [endpoint],
    credentials: { kind: 'files', certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') },
    caFile: join(folder, 'tls.crt'),
    log: createLogger({ name: 'test', level: 'silent' }),
    now: () => now,
    ...more,
  });
  clients.push(client);
  return client;
}

const send =
  (status: number, body: string | object): Answer =>
  (_, response) => {
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-service-client-'));
  pair = await issueCertificate({ commonName: 'both', ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });
  await writeFile(join(folder, 'tls.crt'), pair.certPem);
  await writeFile(join(folder, 'tls.key'), pair.keyPem);
  endpoint = await serve('first', () => answer);
  otherEndpoint = await serve('second', () => otherAnswer);
});
beforeEach(() => {
  requests = [];
  now = 0;
  answer = send(200, '');
  otherAnswer = send(200, '');
});
afterAll(async () => {
  for (const client of clients) client.close();
  for (const server of servers) server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

describe('the key-service client', () => {
  it('sends what both generations of the service understand', async () => {
    const client = await open();
    await client.createKey('my-key');
    await client.deleteKey('my-key');
    await client.ready();
    expect(requests).toEqual([
      'first POST /v1/key/create/my-key',
      'first DELETE /v1/key/delete/my-key',
      'first GET /v1/ready',
    ]);
  });

  it('sends the context in base64 and reads the version where there is one', async () => {
    const key = Buffer.alloc(32, 5);
    answer = (_, response, body) => {
      expect(JSON.parse(body)).toEqual({ context: Buffer.from('{}').toString('base64') });
      response.end(JSON.stringify({ plaintext: key.toString('base64'), ciphertext: 'AAAA', version: 'v7' }));
    };
    const client = await open();
    expect(await client.generateKey('k', Buffer.from('{}'))).toEqual({
      plaintext: key,
      ciphertext: Buffer.from([0, 0, 0]),
      version: 'v7',
    });
  });

  it('names an enclave only when there is one', async () => {
    await (
      await open({ enclave: 'tenant a' })
    )
      .once()
      .version()
      .catch(() => undefined);
    await (
      await open()
    )
      .once()
      .version()
      .catch(() => undefined);
    expect(requests).toEqual(['first GET /version?enclave=tenant+a', 'first GET /version']);
  });

  it.each([
    ['first', '{"name":"b"}\n{"name":"a"}\n'],
    ['second', '{"names":["b","a"],"continue_at":""}'],
  ])('reads a list of the %s generation', async (_, body) => {
    answer = send(200, body);
    expect(await (await open()).listKeys('')).toEqual(['a', 'b']);
    expect(requests).toEqual(['first GET /v1/key/list/*']);
  });

  it('never passes a part of a list for the whole', async () => {
    answer = send(200, { names: ['a'], continue_at: 'b' });
    await expect((await open()).listKeys()).rejects.toMatchObject({ code: 'not-supported' });
  });

  it.each([
    [403, { message: 'not authorized: insufficient permissions' }, 'not-permitted'],
    [404, { error: 'key does not exist' }, 'key-not-found'],
    [404, 'not JSON at all', 'unavailable'],
    [400, { message: 'front says no' }, 'unavailable'],
    [400, { message: 'invalid argument: name is empty' }, 'invalid-request'],
    [501, { message: 'not implemented' }, 'not-supported'],
    [502, '', 'unavailable'],
  ])('turns %i %j into %s', async (status, body, code) => {
    answer = send(status, body);
    await expect((await open()).once().status()).rejects.toMatchObject({ name: 'KeyServiceError', status, code });
  });

  it('never quotes an answer it cannot read, which may hold a key', async () => {
    answer = send(200, '{"plaintext":"c2VjcmV0","ciphertext":5} c2VjcmV0');
    const failure = await (
      await open()
    )
      .once()
      .generateKey('k', Buffer.alloc(0))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(failure) + String((failure as Error).cause) + String(failure)).not.toContain('c2VjcmV0');
  });

  it('refuses a data key that is not 32 bytes long', async () => {
    answer = send(200, { plaintext: 'AAAA', ciphertext: 'AAAA' });
    await expect((await open()).generateKey('k', Buffer.alloc(0))).rejects.toThrow(/3 bytes, not 32/);
  });

  it('gives up on an answer without end', async () => {
    answer = send(200, 'x'.repeat(4 * 1024 * 1024 + 1));
    await expect((await open()).once().status()).rejects.toThrow(/larger than/);
  });

  it('gives up on an answer that does not come', async () => {
    answer = () => undefined;
    await expect((await open({ timeoutMs: 50 })).status()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no answer within 50 ms'),
    });
  });

  it('uses a connection again for calls that follow each other', async () => {
    const ports: (number | undefined)[] = [];
    answer = (request, response) => {
      ports.push(request.socket.remotePort);
      response.end('{"version":"1"}');
    };
    const client = await open();
    // On a busy machine Node hears of the answer before it hears that the request was sent, and only then is the connection free: a call
    // in between opens another one.
    while (new Set(ports).size === ports.length && ports.length < 20) await client.version();
    expect(new Set(ports).size).toBeLessThan(ports.length);
  });

  it('calls again on a fresh connection where the service closed the kept one', async () => {
    let calls = 0;
    answer = (request, response) => {
      if (++calls === 2) request.socket.destroy();
      else response.end('{"version":"1"}');
    };
    const client = await open();
    await client.version();
    expect((await client.version()).version).toBe('1');
    expect(calls).toBe(3);
  });
});

const both = () => open({ endpoints: [endpoint, otherEndpoint] });
const asked = () => requests.map((request) => request.split(' ')[0]);

describe('with two endpoints the client', () => {
  it('takes turns', async () => {
    const client = await both();
    for (let i = 0; i < 4; i++) await client.ready();
    expect(asked()).toEqual(['first', 'second', 'first', 'second']);
  });

  it('goes on to the other where one fails, and leaves that one aside for 30 s', async () => {
    answer = send(502, { message: 'bad gateway: failed to access key' });
    const client = await both();
    for (let i = 0; i < 3; i++) await client.ready();
    expect(asked()).toEqual(['first', 'second', 'second', 'second']);
    now = 30_000;
    requests = [];
    answer = send(200, '');
    for (let i = 0; i < 2; i++) await client.ready();
    expect(new Set(asked())).toEqual(new Set(['first', 'second']));
  });

  it('asks no other where the answer is final', async () => {
    answer = send(403, { message: 'not authorized: insufficient permissions' });
    await expect((await both()).ready()).rejects.toMatchObject({ code: 'not-permitted' });
    answer = send(501, { message: 'not implemented' });
    await expect((await both()).ready()).rejects.toMatchObject({ code: 'not-supported' });
    expect(asked()).toEqual(['first', 'first']);
  });

  it('says of each whether it answers', async () => {
    answer = send(503, { message: 'sealed' });
    otherAnswer = send(403, { message: 'not authorized: insufficient permissions' });
    const client = await both();
    expect(await client.answers(endpoint, 4_000)).toBe(false);
    expect(await client.answers(otherEndpoint, 4_000)).toBe(true);
    expect(await client.answers('https://127.0.0.1:1', 4_000)).toBe(false);
    expect(asked()).toEqual(['first', 'second']);
  });

  it('says what went wrong where both fail', async () => {
    answer = send(502, { message: 'one' });
    otherAnswer = send(504, { message: 'two' });
    await expect((await both()).once().ready()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'two',
      status: 504,
    });
  });
});

const flaky = (failures: number, fail: Answer, then: Answer): Answer => {
  let left = failures;
  return (...call) => (left-- > 0 ? fail : then)(...call);
};
const cut: Answer = (request) => request.socket.destroy();

describe('a service that is away for a moment', () => {
  it('is asked again where it says that it is not there yet', async () => {
    answer = flaky(2, send(503, { message: 'the key service is stopping' }), send(200, { version: '1', commit: '' }));
    expect((await (await open()).version()).version).toBe('1');
    expect(requests).toHaveLength(3);
  });

  it('is asked again where the connection broke before the answer', async () => {
    answer = flaky(2, cut, send(200, { plaintext: 'AAAA' }));
    expect(await (await open()).decryptKey('k', Buffer.from('x'), Buffer.from('{}'))).toEqual(Buffer.from([0, 0, 0]));
  });

  it('is asked again where nobody listens, until it does', async () => {
    const closed = await serve('third', () => send(200, { version: '3', commit: '' }));
    const server = servers.pop();
    const { port } = new URL(closed);
    await new Promise<void>((resolve) => {
      server?.close(() => resolve());
    });
    const asked = (await open({ endpoints: [closed] })).version();
    if (server !== undefined) {
      servers.push(server);
      await listen(server, { host: '127.0.0.1', port: Number(port) }, { setting: '' });
    }
    expect((await asked).version).toBe('3');
  });

  it('is not asked again for what it refuses, nor where its key store is broken', async () => {
    answer = send(502, { message: 'bad gateway: failed to access key' });
    await expect((await open()).ready()).rejects.toMatchObject({ status: 502 });
    answer = send(403, { message: 'not authorized: insufficient permissions' });
    await expect((await open()).ready()).rejects.toMatchObject({ status: 403 });
    expect(requests).toHaveLength(2);
  });

  it('is asked once by who wants to know whether it is there', async () => {
    answer = send(503, { message: 'the key service is stopping' });
    await expect((await open()).once().ready()).rejects.toMatchObject({ status: 503 });
    await expect((await open({ retryForMs: 0 })).ready()).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(2);
  });

  it('made the key whose answer was lost: that it is there now is no error', async () => {
    answer = flaky(1, cut, send(400, { message: 'key already exists' }));
    await expect((await open()).createKey('k')).resolves.toBeUndefined();
    answer = flaky(1, cut, send(404, { message: 'key does not exist' }));
    await expect((await open()).deleteKey('k')).resolves.toBeUndefined();
    answer = send(400, { message: 'key already exists' });
    await expect((await open()).createKey('k')).rejects.toMatchObject({ code: 'key-exists' });
  });
});

const hang: Answer = () => undefined;

describe('a service that hangs', () => {
  it('is given up when the time of the call is over, and every endpoint had its share', async () => {
    answer = hang;
    otherAnswer = hang;
    // Each half is long enough for a handshake on a machine that is busy, for the request must arrive to be counted.
    const client = (await open({ endpoints: [endpoint, otherEndpoint] })).within(8000);
    const key = client.generateKey('k', Buffer.from('{}'));
    await expect(key).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/no answer within \d+ ms/) as string,
    });
    expect(requests.toSorted()).toEqual(['first POST /v1/key/generate/k', 'second POST /v1/key/generate/k']);
  });

  it('does not keep the call from another endpoint that answers', async () => {
    answer = hang;
    otherAnswer = send(200, { version: '2', commit: '' });
    const client = (await open({ endpoints: [endpoint, otherEndpoint] })).within(8000);
    expect((await client.version()).version).toBe('2');
  });

  it('is given up too where it accepts connections and never shakes hands', async () => {
    const silent = createTcpServer();
    const { port } = await listen(silent, { host: '127.0.0.1', port: 0 }, { setting: '' });
    const sockets: Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    const client = (await open({ endpoints: [`https://127.0.0.1:${port}`] })).within(100);
    await expect(client.generateKey('k', Buffer.from('{}'))).rejects.toMatchObject({ code: 'unavailable' });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
