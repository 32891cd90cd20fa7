import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'versions';
const Key = 'folder/a key';
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});

const write = async (Body: string, to = Key) =>
  (await s3.send(new PutObjectCommand({ Bucket, Key: to, Body }))).VersionId;
const setStatus = (Status: 'Enabled' | 'Suspended') =>
  s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
async function read(VersionId?: string): Promise<string | undefined> {
  return (await s3.send(new GetObjectCommand({ Bucket, Key, VersionId }))).Body?.transformToString();
}

describe('versions, with the SDK of AWS', () => {
  it('keep what was written, hide it behind a marker, show it again, and are removed', async () => {
    expect(await write('from before')).toBeUndefined();
    expect((await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBeUndefined();
    await setStatus('Enabled');
    expect((await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    const first = await write('first');
    const second = await write('second');
    expect([await read(), await read(first), await read('null')]).toEqual(['second', 'first', 'from before']);
    expect((await s3.send(new HeadObjectCommand({ Bucket, Key }))).VersionId).toBe(second);

    const marker = await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    expect(marker.DeleteMarker).toBe(true);
    expect(await refusal(read())).toMatchObject({ code: 'NoSuchKey', status: 404 });
    expect(await refusal(read(marker.VersionId))).toMatchObject({ code: 'MethodNotAllowed', status: 405 });
    expect((await s3.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
    const listed = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect(listed.Versions?.map(({ VersionId }) => VersionId)).toEqual([second, first, 'null']);
    expect(listed.DeleteMarkers).toMatchObject([{ VersionId: marker.VersionId, IsLatest: true }]);
    expect(await refusal(s3.send(new DeleteBucketCommand({ Bucket })))).toMatchObject({ code: 'BucketNotEmpty' });

    await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId: marker.VersionId }));
    expect(await read()).toBe('second');
    const CopySource = `${Bucket}/${encodeURIComponent(Key)}?versionId=${first}`;
    const copied = await s3.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
    expect(copied).toMatchObject({ CopySourceVersionId: first, VersionId: expect.any(String) as string });
    expect(await read()).toBe('first');

    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const upload = { Bucket, Key, UploadId };
    const part = await s3.send(
      new UploadPartCopyCommand({ ...upload, PartNumber: 1, CopySource: `${Bucket}/folder/a%20key?versionId=null` }),
    );
    expect(part.CopySourceVersionId).toBe('null');
    const { CopyPartResult } = part;
    const Parts = [{ PartNumber: 1, ETag: CopyPartResult?.ETag }];
    const completed = await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    expect(completed.VersionId).not.toBe(copied.VersionId);
    expect([await read(), await read(completed.VersionId)]).toEqual(['from before', 'from before']);

    await setStatus('Suspended');
    expect(await write('suspended')).toBeUndefined();
    expect(await read('null')).toBe('suspended');
    await setStatus('Enabled');
  });

  it('go page by page, as programs empty a bucket', async () => {
    for (let at = 0; at < 7; at += 1) await write(`${at}`, at % 2 === 0 ? 'even' : 'odd');
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'even' }));
    let markers: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> = {};
    for (let more = true; more;) {
      const page = await s3.send(new ListObjectVersionsCommand({ Bucket, MaxKeys: 3, ...markers }));
      const found = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
      const Objects = found.map(({ Key: name, VersionId }) => ({ Key: name, VersionId }));
      const { Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
      expect(Errors).toBeUndefined();
      markers = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
      more = page.IsTruncated === true;
    }
    const left = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect([left.Versions, left.DeleteMarkers]).toEqual([undefined, undefined]);
    await s3.send(new DeleteBucketCommand({ Bucket }));
  });
});
