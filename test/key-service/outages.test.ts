import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { type KeyServiceClient, openKeyServiceClient } from '../../platform/key-service/client.ts';
import { listen } from '../../platform/http/listen.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import { FakeKeyService } from '../support/encryption/fake-key-service.ts';
import { body, put, testLayer, type TestLayer } from '../support/objects/test-layer.ts';
import { freePort } from '../support/process/free-port.ts';

const hour = 3_600_000;
const kms = { encryption: { scheme: 'SSE-KMS' } } as const;

/** Of two servers of one key service, over real TLS: each can be killed, slow, failing, or show another certificate. */
class KeyServer {
  mode: 'well' | 'failing' = 'well';
  /** Answers wait for it. */
  gate: Promise<void> = Promise.resolve();
  answered = 0;
  readonly port: number;
  readonly #service: FakeKeyService;
  #server: Server | undefined;

  constructor(port: number, service: FakeKeyService) {
    this.port = port;
    this.#service = service;
  }

  async start({ certPem, keyPem }: CertificateAndKey): Promise<void> {
    this.#server = createServer(
      { cert: certPem, key: keyPem, requestCert: true, rejectUnauthorized: false },
      (request, response) => void this.#answer(request, response),
    );
    await listen(this.#server, { host: '127.0.0.1', port: this.port }, { setting: '' });
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (this.mode === 'failing') return void response.writeHead(503).end('{"message":"away"}');
    await this.gate;
    const [, , , call = '', name = ''] = (request.url ?? '').split('/');
    const sent = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>;
    const bytes = (field: string) => Buffer.from(sent[field] ?? '', 'base64');
    this.answered += 1;
    const answer =
      call === 'generate'
        ? await this.#service.generateKey(name, bytes('context'))
        : { plaintext: await this.#service.decryptKey(name, bytes('ciphertext'), bytes('context')) };
    const text = Object.entries(answer).map(([field, value]) => [field, value.toString('base64')]);
    return void response.end(JSON.stringify(Object.fromEntries(text)));
  }
}

let folder: string;
let ca: CertificateAndKey;
let certificate: CertificateAndKey;
let service: FakeKeyService;
let servers: [KeyServer, KeyServer];
let client: KeyServiceClient;
let test: TestLayer;

const issued = (now: Date, validForMs: number) =>
  issueCertificate({ commonName: 'keys', issuer: ca, ipAddresses: ['127.0.0.1'], validForMs, now });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-outages-'));
  // From before the certificates that expired.
  ca = await makeCa({ commonName: 'test', validForMs: 100 * hour, now: new Date(Date.now() - 10 * hour) });
  certificate = await issued(new Date(), hour);
  await writeFile(join(folder, 'ca.crt'), ca.certPem);
  await writeFile(join(folder, 'tls.crt'), certificate.certPem);
  await writeFile(join(folder, 'tls.key'), certificate.keyPem);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

beforeEach(async () => {
  service = new FakeKeyService();
  servers = [new KeyServer(await freePort(), service), new KeyServer(await freePort(), service)];
  for (const server of servers) await server.start(certificate);
  client = await openKeyServiceClient({
    endpoints: servers.map(({ port }) => `https://127.0.0.1:${port}`),
    credentials: { kind: 'files', certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') },
    caFile: join(folder, 'ca.crt'),
    log: createLogger({ name: 'test', level: 'silent' }),
    // So that what fails fails soon, and what is slow on a busy machine does not.
    retryForMs: 1_000,
  });
  test = testLayer({ keys: keyServiceKeys(client, { defaultKey: 'default-key' }), inlineLimit: 100 });
  for (const bucket of ['bucket', 'fresh']) await test.layer.createBucket(bucket, { location: '' });
  await test.layer.putObject(put('bucket', 'before', 'x'.repeat(1_000), kms));
});
afterEach(async () => {
  client.close();
  for (const server of servers) await server.kill();
});

async function blobCount(): Promise<number> {
  return (await Array.fromAsync(test.blobs.list())).length;
}

const outages: readonly (readonly [string, (server: KeyServer) => Promise<void>])[] = [
  ['killed', (server) => server.kill()],
  [
    'answering 503',
    (server) => {
      server.mode = 'failing';
      return Promise.resolve();
    },
  ],
  [
    'showing a certificate that expired',
    async (server) => {
      await server.kill();
      await server.start(await issued(new Date(Date.now() - 3 * hour), hour));
    },
  ],
  [
    'an hour ahead of this clock with its certificate',
    async (server) => {
      await server.kill();
      await server.start(await issued(new Date(Date.now() + 2 * hour), hour));
    },
  ],
];

async function heal(): Promise<void> {
  for (const server of servers) {
    server.mode = 'well';
    await server.kill();
    await server.start(certificate);
  }
}

describe.each(outages)('a key service that is %s', { timeout: 360_000 }, (_what, fail) => {
  it('goes on where its keys are known, refuses cleanly where not, stores nothing plain, and heals by itself', async () => {
    const { layer } = test;
    for (const server of servers) await fail(server);

    expect(await body(layer, 'bucket', 'before')).toHaveLength(1_000);
    await layer.putObject(put('bucket', 'during', 'y'.repeat(1_000), kms));
    expect(await body(layer, 'bucket', 'during')).toHaveLength(1_000);

    const blobs = await blobCount();
    for (const size of [10, 1_000]) {
      const rejected = layer.putObject(put('fresh', 'key', 'z'.repeat(size), kms));
      await expect(rejected).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    }
    const upload = layer.createMultipartUpload({ bucket: 'fresh', key: 'key', headers: { metadata: {} }, ...kms });
    await expect(upload).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(layer.headObject('fresh', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
    expect(await blobCount()).toBe(blobs);

    await heal();
    await layer.putObject(put('fresh', 'key', 'z'.repeat(1_000), kms));
    const other = testLayer({ ...test, keys: keyServiceKeys(client, { defaultKey: 'default-key' }) });
    for (const key of ['before', 'during']) expect(await body(other.layer, 'bucket', key)).toHaveLength(1_000);
    expect((await body(other.layer, 'fresh', 'key')).toString()).toBe('z'.repeat(1_000));
  });

  it('is not noticed where another server of it is there', async () => {
    await fail(servers[0]);
    for (let at = 0; at < 6; at += 1) {
      await test.layer.createBucket(`b-${at}`, { location: '' });
      await test.layer.putObject(put(`b-${at}`, 'key', 'z', kms));
    }
    expect(servers[1].answered).toBeGreaterThanOrEqual(6);
  });
});

it('a key service that is slow delays what it is asked for, and nothing else', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const server of servers) server.gate = promise;
  let written = false;
  const writing = test.layer.putObject(put('fresh', 'key', 'z', kms)).then(() => (written = true));
  expect(await body(test.layer, 'bucket', 'before')).toHaveLength(1_000);
  await test.layer.putObject(put('bucket', 'during', 'y', kms));
  expect(written).toBe(false);
  resolve();
  await writing;
  expect((await body(test.layer, 'fresh', 'key')).toString()).toBe('z');
});

it('several servers are asked in turn', async () => {
  for (let at = 0; at < 10; at += 1) {
    await test.layer.createBucket(`b-${at}`, { location: '' });
    await test.layer.putObject(put(`b-${at}`, 'key', 'z', kms));
  }
  for (const { answered } of servers) expect(answered).toBeGreaterThanOrEqual(5);
});

const asked = () => servers[0].answered + servers[1].answered;

it('many objects of a bucket cost one call, also when they are put at once before any key is known', async () => {
  const before = asked();
  await Promise.all(Array.from({ length: 100 }, (_, at) => test.layer.putObject(put('fresh', `k${at}`, 'z', kms))));
  expect(asked() - before).toBe(1);
});
