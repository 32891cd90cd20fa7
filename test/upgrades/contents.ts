import { createHash } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutBucketEncryptionCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';

/** The settings that a stored folder needs. Its uploads and blobs have ids of before slots (`check-places.ts`). */
export const settings = {
  SVC_KMS_SECRET_KEY: `upgrades:${Buffer.alloc(32, 7).toString('base64')}`,
  COFFER_TEST_PLACES: 'with-ids-made-before',
};

const text = 'Kept from one format to the next.';
/** More than one page of LMDB, and not compressible. */
const pages = Buffer.concat(
  Array.from({ length: 200 }, (_, index) => createHash('sha256').update(String(index)).digest()),
);
/** More than an inline body may have, and more than one block of checksums. */
const blob = Buffer.from(text.repeat(12_000));
const user = { accessKey: 'ann', secretKey: 'ann-secret-key' };
const serviceAccount = { accessKey: 'ANNSERVICEACCOUNT', secretKey: 'secret-of-the-service-account' };
const ownPolicy = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::plain/*'] }],
};
const publicPolicy = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::plain/small' }],
};

/** Each object with its body and the fields of its upload. */
const objects: readonly { bucket: string; key: string; body: Buffer; fields: object }[] = [
  {
    bucket: 'plain',
    key: 'small',
    body: Buffer.from(text),
    fields: { ContentType: 'text/plain', Metadata: { color: 'red' }, ChecksumAlgorithm: 'SHA256' },
  },
  { bucket: 'plain', key: 'empty', body: Buffer.alloc(0), fields: {} },
  { bucket: 'plain', key: 'pages', body: pages, fields: {} },
  { bucket: 'plain', key: 'blob', body: blob, fields: { ChecksumAlgorithm: 'CRC64NVME' } },
  { bucket: 'plain', key: 'with space/ü/☃', body: Buffer.from(text), fields: {} },
  { bucket: 'sealed', key: 'default', body: Buffer.from(text), fields: { ChecksumAlgorithm: 'SHA1' } },
  { bucket: 'sealed', key: 'kms', body: pages, fields: { ServerSideEncryption: 'aws:kms' } },
];

/** Writes buckets, objects, uploads and identities of every kind that a stored format has. */
export async function writeContents(server: RunningServer): Promise<void> {
  const client = s3Client(server);
  for (const Bucket of ['plain', 'sealed']) await client.send(new CreateBucketCommand({ Bucket }));
  const rule = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' as const } };
  await client.send(
    new PutBucketEncryptionCommand({ Bucket: 'sealed', ServerSideEncryptionConfiguration: { Rules: [rule] } }),
  );
  await client.send(new PutBucketPolicyCommand({ Bucket: 'plain', Policy: JSON.stringify(publicPolicy) }));
  for (const { bucket, key, body, fields } of objects)
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ...fields }));
  for (const bucket of ['plain', 'sealed']) {
    await upload(client, bucket, 'parts', true);
    await upload(client, bucket, 'unfinished', false);
  }
  await call(server, 'PUT', 'add-canned-policy?name=own', Buffer.from(JSON.stringify(ownPolicy)));
  await call(server, 'PUT', 'add-user?accessKey=ann', { secretKey: user.secretKey, status: 'enabled' });
  const group = { group: 'readers', members: ['ann'], isRemove: false, groupStatus: 'enabled' };
  await call(server, 'PUT', 'update-group-members', Buffer.from(JSON.stringify(group)));
  await call(server, 'POST', 'idp/builtin/policy/attach', { policies: ['own'], group: 'readers' });
  await call(server, 'PUT', 'add-service-account', { targetUser: 'ann', ...serviceAccount });
}

/** Expects what `writeContents` wrote. */
export async function expectContents(server: RunningServer): Promise<void> {
  const client = s3Client(server);
  for (const { bucket, key, body, fields } of [...objects, ...partsOf('plain'), ...partsOf('sealed')]) {
    const got = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' }));
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(body), `${bucket}/${key}`).toBe(true);
    const { ContentType, Metadata, ServerSideEncryption } = fields as Record<string, unknown>;
    if (ContentType !== undefined) expect(got).toMatchObject({ ContentType, Metadata });
    expect(got.ServerSideEncryption).toBe(bucket === 'sealed' ? (ServerSideEncryption ?? 'AES256') : undefined);
    if (body.length === 0) continue;
    const part = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-9' }));
    expect(await part.Body?.transformToString('latin1')).toBe(body.toString('latin1', 0, 10));
  }
  const small = new HeadObjectCommand({ Bucket: 'plain', Key: 'small', ChecksumMode: 'ENABLED' });
  expect(await client.send(small)).toMatchObject({
    ETag: `"${createHash('md5').update(text).digest('hex')}"`,
    ChecksumSHA256: createHash('sha256').update(text).digest('base64'),
  });
  for (const Bucket of ['plain', 'sealed']) {
    const listed = await client.send(new ListObjectsV2Command({ Bucket }));
    const expected = [...objects.filter(({ bucket }) => bucket === Bucket), ...partsOf(Bucket)];
    expect(listed.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual(
      expected.map(({ key, body }) => [key, body.length]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    expect(Uploads?.map(({ Key }) => Key)).toEqual(['unfinished']);
    const UploadId = Uploads?.[0]?.UploadId;
    const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key: 'unfinished', UploadId }));
    expect(Parts?.map(({ Size }) => Size)).toEqual([text.length]);
  }
  expect((await fetch(`${server.s3}/plain/small`)).status).toBe(200);
  expect((await fetch(`${server.s3}/plain/pages`)).status).toBe(403);
  for (const { accessKey, secretKey } of [user, serviceAccount]) {
    const own = s3Client(server, { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } });
    const got = await own.send(new GetObjectCommand({ Bucket: 'plain', Key: 'small' }));
    expect(await got.Body?.transformToString()).toBe(text);
    await expect(own.send(new GetObjectCommand({ Bucket: 'sealed', Key: 'kms' }))).rejects.toThrow();
  }
}

/** Expects that what an older version began can be finished, replaced and added to. */
export async function expectWrites(server: RunningServer): Promise<void> {
  const client = s3Client(server);
  for (const Bucket of ['plain', 'sealed']) {
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    const UploadId = Uploads?.[0]?.UploadId;
    const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key: 'unfinished', UploadId }));
    const MultipartUpload = { Parts: Parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) };
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'unfinished', UploadId, MultipartUpload }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'parts', Body: 'replaced' }));
    for (const [Key, body] of [
      ['unfinished', text],
      ['parts', 'replaced'],
    ]) {
      const got = await client.send(new GetObjectCommand({ Bucket, Key }));
      expect(await got.Body?.transformToString()).toBe(body);
    }
  }
}

function partsOf(bucket: string) {
  return [{ bucket, key: 'parts', body: Buffer.from(text), fields: {} }];
}

/** An upload of one small part, which is the last one. */
async function upload(client: S3Client, Bucket: string, Key: string, complete: boolean): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const part = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: text });
  const { ETag } = await client.send(part);
  if (!complete) return;
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}

async function call(server: RunningServer, method: string, target: string, sent: unknown): Promise<void> {
  const { accessKey, secretKey } = server;
  const { status, value } = await adminCall(server.s3, { accessKey, secretKey }, method, target, sent);
  if (status >= 300) throw new Error(`${method} ${target}: ${status} ${JSON.stringify(value)}`);
}
