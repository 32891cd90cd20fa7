import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  GetBucketEncryptionCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { freePort } from '../support/process/free-port.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

/** What the specification says that a server's policy must allow, word for word: all that follows works with no more. */
const serverPaths =
  '[/v1/key/create/*, /v1/key/generate/*, /v1/key/decrypt/*, /v1/key/bulk/decrypt, /v1/key/list, /v1/status, /v1/metrics, /v1/log/audit, /v1/log/error]';

const Bucket = 'sealed';
let folder: string;
let server: RunningServer;
let keysvc: KeysvcProcess | undefined;
let startKeys: () => Promise<KeysvcProcess>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keys-'));
  const port = await freePort();
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const app = await issue(ca, 'app');
  const appFiles = await writePair(folder, 'app', app);
  const keysFiles = await writePair(folder, 'keys', await issue(ca, 'keys'));
  const config = join(folder, 'keysvc.yaml');
  await writeFile(
    config,
    `
address: 127.0.0.1:${port}
root: disabled
tls: { key: ${keysFiles.keyFile}, cert: ${keysFiles.certFile}, ca: ${caFile} }
policy:
  app:
    allow: ${serverPaths}
    identities: [${identityOfCertificate(app.certPem)}]
keys: [{ name: main-key }]
keystore: { fs: { path: ${join(folder, 'key-files')} } }
`,
  );
  startKeys = () => startKeysvc(['--config', config]);
  server = await startServer({
    console: true,
    env: {
      SVC_KMS_KEYSVC_ENDPOINT: `https://127.0.0.1:${port}`,
      SVC_KMS_KEYSVC_KEY_NAME: 'main-key',
      SVC_KMS_KEYSVC_CERT_FILE: appFiles.certFile,
      SVC_KMS_KEYSVC_KEY_FILE: appFiles.keyFile,
      SVC_KMS_KEYSVC_CAPATH: caFile,
    },
  });
});
afterAll(async () => {
  await server.stop();
  await keysvc?.stop();
  await rm(folder, { recursive: true, force: true });
});

const s3 = () => s3Client(server);
const readiness = async () => (await fetch(`${server.s3}/minio/health/ready`)).status;

describe('a server whose key service is away', () => {
  it('listens, lives, says what it waits for, and refuses everything else for now', async () => {
    await server.untilLogged('waiting for the key service');
    const status = async (path: string) => (await fetch(server.s3 + path)).status;
    expect(await status('/minio/health/live')).toBe(200);
    expect(await status('/minio/health/ready')).toBe(503);
    // Each thread hears of it by itself.
    const waitingFor = async () => (await fetch(`${server.s3}/minio/health/ready`)).headers.get('x-coffer-waiting-for');
    await expect.poll(waitingFor).toBe('key-service');
    expect(await status('/minio/health/cluster')).toBe(503);
    expect((await fetch(server.console)).status).toBe(503);
    const answer = await fetch(`${server.s3}/bucket`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.text()).toContain('<Code>ServiceUnavailable</Code>');
  });

  it('becomes ready by itself when it comes', async () => {
    keysvc = await startKeys();
    await untilReady(server);
  });
});

describe('with a key service', () => {
  const secret = 'in plain sight of nobody ';

  beforeAll(async () => {
    await s3().send(new CreateBucketCommand({ Bucket }));
  });

  it.each([
    ['SSE-S3', { ServerSideEncryption: 'AES256' }, { ServerSideEncryption: 'AES256' }],
    [
      'SSE-KMS with the default key',
      { ServerSideEncryption: 'aws:kms' },
      { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'arn:aws:kms:main-key' },
    ],
    [
      'SSE-KMS with a key and a context',
      {
        ServerSideEncryption: 'aws:kms',
        SSEKMSKeyId: 'main-key',
        SSEKMSEncryptionContext: Buffer.from('{"a":"b"}').toString('base64'),
      },
      { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'arn:aws:kms:main-key' },
    ],
  ] as const)('%s comes back as it went, and says so', async (Key, asked, told) => {
    const put = await s3().send(new PutObjectCommand({ Bucket, Key, Body: secret, ...asked }));
    expect(put).toMatchObject(told);
    const got = await s3().send(new GetObjectCommand({ Bucket, Key }));
    expect(got).toMatchObject(told);
    expect(await got.Body?.transformToString()).toBe(secret);
  });

  it('an unknown key is refused by its name', async () => {
    const put = new PutObjectCommand({
      Bucket,
      Key: 'k',
      Body: 'x',
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: 'no-such-key',
    });
    expect(await refusal(s3().send(put))).toEqual({ code: 'KMS.NotFoundException', status: 400 });
  });

  it('the default of a bucket holds for puts, multipart uploads and copies, and disk shows no plaintext', async () => {
    const Rules = [
      { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' as const, KMSMasterKeyID: 'main-key' } },
    ];
    await s3().send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: { Rules } }));
    const told = await s3().send(new GetBucketEncryptionCommand({ Bucket }));
    expect(told.ServerSideEncryptionConfiguration?.Rules).toMatchObject([
      {
        ApplyServerSideEncryptionByDefault: {
          SSEAlgorithm: 'aws:kms',
          KMSMasterKeyID: expect.stringContaining('main-key'),
        },
      },
    ]);
    const Body = Buffer.from(secret.repeat(250_000));
    await s3().send(new PutObjectCommand({ Bucket, Key: 'small', Body: secret }));
    await new Upload({ client: s3(), params: { Bucket, Key: 'large', Body } }).done();
    await s3().send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/large` }));
    for (const Key of ['small', 'large', 'copy']) {
      const head = await s3().send(new HeadObjectCommand({ Bucket, Key }));
      expect([Key, head.ServerSideEncryption]).toEqual([Key, 'aws:kms']);
    }
    const ranged = await s3().send(new GetObjectCommand({ Bucket, Key: 'copy', Range: 'bytes=5242870-5242894' }));
    expect(Buffer.from((await ranged.Body?.transformToByteArray()) ?? [])).toEqual(Body.subarray(5_242_870, 5_242_895));
    for (const name of await readdir(server.folder, { recursive: true, withFileTypes: true })) {
      // The server makes and removes a probe at any time, to see whether the folder takes files.
      if (!name.isFile() || name.name.startsWith('probe-')) continue;
      const bytes = await readFile(join(name.parentPath, name.name));
      expect([name.name, bytes.includes(secret)]).toEqual([name.name, false]);
    }
  });
});

describe('a server whose key service restarts', { timeout: 180_000 }, () => {
  it('stays ready, serves what it has keys for, and waits with what it has none for', async () => {
    const read = async (Key: string) => {
      const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key }));
      return Body?.transformToString();
    };
    const encrypted = { ServerSideEncryption: 'aws:kms' } as const;
    await s3().send(new PutObjectCommand({ Bucket, Key: 'before', Body: 'x', ...encrypted }));
    // Each thread has keys of its own, and a connection stays with one.
    const client = s3();
    await client.send(new PutObjectCommand({ Bucket, Key: 'known', Body: 'x', ...encrypted }));
    await keysvc?.stop();
    expect(await readiness()).toBe(200);
    await client.send(new PutObjectCommand({ Bucket, Key: 'while-away', Body: 'x', ...encrypted }));

    const other = new CreateBucketCommand({ Bucket: 'not-seen-before' });
    await client.send(other);
    const waiting = client.send(new PutObjectCommand({ Bucket: 'not-seen-before', Key: 'k', Body: 'x', ...encrypted }));
    keysvc = await startKeys();
    await waiting;
    expect(await readiness()).toBe(200);
    expect(await read('while-away')).toBe('x');
  });
});
