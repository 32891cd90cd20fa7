import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

/** Servers start and stop in it. */
const patient = { timeout: 360_000 };
const Bucket = 'sealed';
const text = 'in plain sight of nobody';
const secretKey = `my-key:${randomBytes(32).toString('base64')}`;
let folder: string;
let keyFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-secret-key-'));
  keyFile = join(folder, 'key');
  await writeFile(keyFile, `${secretKey}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function withServer(env: Record<string, string>, use: (server: RunningServer) => Promise<void>): Promise<void> {
  const server = await startServer({ env, folder: join(folder, 'data') });
  try {
    await untilReady(server);
    await use(server);
  } finally {
    await server.stop();
  }
}

it('encrypts with the key of a file, and reads it again by the name that MinIO has for it', patient, async () => {
  await withServer({ SVC_KMS_SECRET_KEY_FILE: keyFile }, async (server) => {
    const client = s3Client(server);
    await client.send(new CreateBucketCommand({ Bucket }));
    for (const ServerSideEncryption of ['AES256', 'aws:kms'] as const) {
      const put = new PutObjectCommand({ Bucket, Key: ServerSideEncryption, Body: text, ServerSideEncryption });
      expect((await client.send(put)).ServerSideEncryption).toBe(ServerSideEncryption);
    }
    const another = new PutObjectCommand({
      Bucket,
      Key: 'k',
      Body: text,
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: 'another',
    });
    expect(await refusal(client.send(another))).toEqual({ code: 'KMS.NotFoundException', status: 400 });
    const rule = { SSEAlgorithm: 'aws:kms' as const, KMSMasterKeyID: 'another' };
    const fault = new PutBucketEncryptionCommand({
      Bucket,
      ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault: rule }] },
    });
    expect(await refusal(client.send(fault))).toEqual({ code: 'KMS.NotFoundException', status: 400 });
  });
  await withServer({ MINIO_KMS_SECRET_KEY: secretKey }, async (server) => {
    for (const Key of ['AES256', 'aws:kms']) {
      const { Body } = await s3Client(server).send(new GetObjectCommand({ Bucket, Key }));
      expect(await Body?.transformToString()).toBe(text);
    }
    expect(server.log.join('\n')).not.toContain(secretKey.slice('my-key:'.length));
  });
  for (const entry of await readdir(join(folder, 'data'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    expect([entry.name, bytes.includes(text)]).toEqual([entry.name, false]);
  }
});

it('does not start with another key than the one that sealed, and says so', patient, async () => {
  const env = { SVC_KMS_SECRET_KEY: `my-key:${randomBytes(32).toString('base64')}` };
  const server = await startServer({ env, folder: join(folder, 'data') });
  await server.untilLogged('changed or wrong key');
  await server.stop();
});
