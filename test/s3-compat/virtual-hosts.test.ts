import { Agent, request } from 'node:https';
import type { LookupFunction } from 'node:net';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHostedServer, type HostedServer } from '../support/server/start-hosted-server.ts';

let hosted: HostedServer;
let s3: S3Client;

/** Resolves every name to the server. */
const lookup: LookupFunction = (_host, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

beforeAll(async () => {
  hosted = await startHostedServer();
  s3 = new S3Client({
    endpoint: hosted.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: hosted.server.accessKey, secretAccessKey: hosted.server.secretKey },
    maxAttempts: 1,
    requestHandler: { httpsAgent: new Agent({ lookup, ca: hosted.ca }) },
  });
});
afterAll(async () => {
  s3.destroy();
  await hosted.stop();
});

/** Sends a request to a host, and expects the certificate to be valid for it. */
function ask(url: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const { method = 'GET', headers = {} } = options;
    const sent = request(url, { method, headers, lookup, ca: hosted.ca, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
    });
    sent.on('error', reject);
    sent.end(options.body);
  });
}

it('serves the AWS SDK, which puts the bucket into the host by default', async () => {
  const Bucket = 'by-sdk';
  const put = new PutObjectCommand({ Bucket, Key: 'a b/ü+%', Body: 'content' });
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new HeadBucketCommand({ Bucket }));
  let asked = '';
  s3.middlewareStack.add(
    (next) => async (args) => {
      asked = (args.request as { hostname: string }).hostname;
      return next(args);
    },
    { step: 'finalizeRequest', name: 'host', override: true },
  );
  await s3.send(put);
  expect(asked).toBe(`${Bucket}.${hosted.domain}`);
  await s3.send(
    new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/${encodeURIComponent('a b/ü+%')}` }),
  );
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'copy' }));
  expect(await got.Body?.transformToString()).toBe('content');
  const listed = await s3.send(new ListObjectsV2Command({ Bucket }));
  expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['a b/ü+%', 'copy']);
  const all = await s3.send(new ListBucketsCommand({}));
  expect(all.Buckets?.map(({ Name }) => Name)).toContain(Bucket);
  const large = new Upload({ client: s3, params: { Bucket, Key: 'large', Body: Buffer.alloc(11 << 20) } });
  expect((await large.done()).Location).toBe(`${hosted.endpoint.replace('//', `//${Bucket}.`)}/large`);
  const deleted = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'large' }] } }));
  expect(deleted.Deleted?.map(({ Key }) => Key)).toEqual(['large']);
});

it('serves buckets with the names of other paths, and keys like other paths', async () => {
  for (const Bucket of ['health', 'admin', 'console', 's3-x']) {
    await s3.send(new CreateBucketCommand({ Bucket }));
    const keys = [
      'minio/health/live',
      'minio/admin/v3/info',
      'minio/v2/metrics/cluster',
      'health/live',
      'api/v1/login',
    ];
    for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: `${Bucket}/${Key}` }));
    for (const Key of keys) {
      const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
      expect(await got.Body?.transformToString()).toBe(`${Bucket}/${Key}`);
    }
  }
  const probe = await ask(`${hosted.endpoint}/minio/health/live`);
  expect(probe.status).toBe(200);
  const key = await ask(`${hosted.endpoint.replace('//', '//s3-x.')}/minio/health/live`);
  expect([key.status, key.body]).toEqual([403, expect.stringContaining('<Code>AccessDenied</Code>')]);
});

it('takes presigned URLs, for the bucket of the host alone', async () => {
  const [Bucket, other] = ['presigned', 'presigned-other'];
  for (const name of [Bucket, other]) {
    await s3.send(new CreateBucketCommand({ Bucket: name }));
    await s3.send(new PutObjectCommand({ Bucket: name, Key: 'key', Body: name }));
  }
  const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'key' }), { expiresIn: 60 });
  expect(url).toContain(`https://${Bucket}.${hosted.domain}:`);
  expect(await ask(url)).toEqual({ status: 200, body: Bucket });
  expect((await ask(url, { headers: { 'x-forwarded-host': `${other}.${hosted.domain}` } })).body).toBe(Bucket);
  const stolen = await ask(url.replace(`//${Bucket}.`, `//${other}.`));
  expect([stolen.status, stolen.body]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')]);
  const put = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'up/load' }), { expiresIn: 60 });
  expect((await ask(put, { method: 'PUT', body: 'uploaded' })).status).toBe(200);
});

it('takes no form at a bucket for STS, and no path of it for the admin API', async () => {
  const bucket = hosted.endpoint.replace('//', '//nothing-here.');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sts = await ask(bucket, { method: 'POST', headers: form, body: 'Action=AssumeRole&Version=2011-06-15' });
  expect(sts.body).not.toContain('sts.amazonaws.com');
  expect(sts.status).toBeGreaterThanOrEqual(400);
  const admin = await ask(`${bucket}/minio/admin/v3/info`);
  expect([admin.status, admin.body]).toEqual([403, expect.stringMatching(/^<\?xml/)]);
});

it('names bucket and key in the audit log', async () => {
  await s3.send(new CreateBucketCommand({ Bucket: 'audited' }));
  await s3.send(new PutObjectCommand({ Bucket: 'audited', Key: 'a/b', Body: 'x' }));
  await expect
    .poll(async () => (await hosted.audit()).find(({ api }) => api.name === 'PutObject' && api.bucket === 'audited'))
    .toMatchObject({
      api: { object: 'a/b' },
      requestPath: '/a/b',
      requestHost: `audited.${new URL(hosted.endpoint).host}`,
    });
});
