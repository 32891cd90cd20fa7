import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type ListObjectsV2CommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'listed';
const keys = [
  'a',
  'a!',
  'photos/2024/may/1.jpg',
  'photos/2024/may/2.jpg',
  'photos/2025/1.jpg',
  'photos/index',
  'photos2',
  'zoo\u0001control',
  'ä/ö',
];
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await Promise.all(keys.map((Key) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))));
});

async function list(more: Partial<ListObjectsV2CommandInput> = {}) {
  const answer = await s3.send(new ListObjectsV2Command({ Bucket, ...more }));
  return {
    keys: (answer.Contents ?? []).map(({ Key }) => Key ?? ''),
    prefixes: (answer.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ''),
    answer,
  };
}

describe('ListObjectsV2', () => {
  it('tells every key in the order of its bytes, with size, ETag and time', async () => {
    const { keys: found, answer } = await list();
    expect(found).toEqual(keys);
    expect(answer).toMatchObject({ KeyCount: keys.length, IsTruncated: false, MaxKeys: 1_000 });
    expect(answer.Contents?.[0]).toMatchObject({
      Size: 1,
      ETag: '"0cc175b9c0f1b6a831c399e269772661"',
      StorageClass: 'STANDARD',
    });
    expect(answer.Contents?.[0]?.LastModified?.getTime()).toBeGreaterThan(Date.now() - 600_000);
  });

  it.each([
    ['photos/', '/', ['photos/index'], ['photos/2024/', 'photos/2025/']],
    ['', '/', ['a', 'a!', 'photos2', 'zoo\u0001control'], ['photos/', 'ä/']],
    ['photos', '/', ['photos2'], ['photos/']],
    ['photos/2024/may/', '/', ['photos/2024/may/1.jpg', 'photos/2024/may/2.jpg'], []],
    [
      '',
      'may/',
      ['a', 'a!', 'photos/2025/1.jpg', 'photos/index', 'photos2', 'zoo\u0001control', 'ä/ö'],
      ['photos/2024/may/'],
    ],
    ['none', '/', [], []],
  ])('with prefix "%s" and delimiter "%s"', async (Prefix, Delimiter, expected, prefixes) => {
    const found = await list({ Prefix, Delimiter });
    expect([found.keys, found.prefixes]).toEqual([expected, prefixes]);
  });

  it.each([1, 2, 3])('gives pages of %i without a gap or a repetition', async (pageSize) => {
    const found: string[] = [];
    for await (const page of paginateListObjectsV2({ client: s3, pageSize }, { Bucket, Delimiter: '/' })) {
      found.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ''));
      found.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
    }
    expect(found.sort()).toEqual(['a', 'a!', 'photos/', 'photos2', 'zoo\u0001control', 'ä/'].sort());
  });

  it('starts after a key', async () => {
    expect((await list({ StartAfter: 'photos/index' })).keys).toEqual(['photos2', 'zoo\u0001control', 'ä/ö']);
  });

  it('tells owners only when asked', async () => {
    expect((await list()).answer.Contents?.[0]?.Owner).toBeUndefined();
    expect((await list({ FetchOwner: true })).answer.Contents?.[0]?.Owner?.DisplayName).toBe('coffer');
  });

  it('encodes keys when asked', async () => {
    const { keys: found } = await list({ EncodingType: 'url', Prefix: 'zoo' });
    expect(found).toEqual(['zoo%01control']);
  });

  it('of no keys is empty and complete', async () => {
    const { keys: found, answer } = await list({ MaxKeys: 0 });
    expect([found, answer.IsTruncated, answer.NextContinuationToken]).toEqual([[], false, undefined]);
  });

  it.each([
    ['a negative number of keys', { MaxKeys: -1 }],
    ['another encoding', { EncodingType: 'base64' as 'url' }],
    ['a token that is none', { ContinuationToken: '!!!' }],
  ])('refuses %s', async (_what, more) => {
    expect(await refusal(list(more))).toEqual({ code: 'InvalidArgument', status: 400 });
  });

  it('of an absent bucket is refused', async () => {
    expect((await refusal(list({ Bucket: 'no-such-bucket' }))).code).toBe('NoSuchBucket');
  });
});

describe('ListObjects', () => {
  it('pages by marker', async () => {
    const found: string[] = [];
    let Marker: string | undefined = '';
    do {
      const page: { NextMarker?: string | undefined; Contents?: { Key?: string | undefined }[] | undefined } =
        await s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2, Marker }));
      found.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
      Marker = page.NextMarker;
    } while (Marker !== undefined);
    expect(found).toEqual(keys);
  });
});

describe('ListObjectVersions', () => {
  it('shows each object as its only version', async () => {
    const { Versions } = await s3.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'photos/' }));
    expect(Versions).toHaveLength(4);
    expect(Versions?.[0]).toMatchObject({ VersionId: 'null', IsLatest: true, Key: 'photos/2024/may/1.jpg' });
  });
});

describe('ListMultipartUploads', () => {
  it('pages and groups', async () => {
    const started = ['u/1', 'u/1', 'u/2', 'v'];
    for (const Key of started) await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const found: (string | undefined)[] = [];
    let KeyMarker: string | undefined;
    let UploadIdMarker: string | undefined;
    for (let more = true; more;) {
      const page = await s3.send(new ListMultipartUploadsCommand({ Bucket, MaxUploads: 1, KeyMarker, UploadIdMarker }));
      found.push(...(page.Uploads ?? []).map(({ Key }) => Key));
      ({ NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page);
      more = page.IsTruncated === true;
    }
    expect(found).toEqual(started);
    const grouped = await s3.send(new ListMultipartUploadsCommand({ Bucket, Delimiter: '/' }));
    expect(grouped.CommonPrefixes).toEqual([{ Prefix: 'u/' }]);
  });
});
