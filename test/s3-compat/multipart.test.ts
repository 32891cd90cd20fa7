import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { beforeAll, describe, expect, it } from 'vitest';
import { inFullForm } from '../support/full-form.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'multipart';
const MiB = 1024 ** 2;
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes);

async function begin(Key: string): Promise<string> {
  return (await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId ?? '';
}

async function part(Key: string, UploadId: string, PartNumber: number, Body: Uint8Array): Promise<CompletedPart> {
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
  return { ETag, PartNumber };
}

function complete(Key: string, UploadId: string, Parts: CompletedPart[], more = {}) {
  return s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, ...more }));
}

describe('the parts of an object', () => {
  it('are read one by one with their checksums, and listed in pages', async () => {
    const Key = 'parts';
    const ChecksumAlgorithm = 'SHA256';
    const bodies = [Buffer.alloc(5 * MiB, 'a'), Buffer.from('last')];
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm }));
    const Parts = await Promise.all(
      bodies.map(async (Body, index) => {
        const PartNumber = index + 1;
        const of = { Bucket, Key, UploadId, PartNumber, Body, ChecksumAlgorithm } as const;
        const { ETag, ChecksumSHA256 } = await s3.send(new UploadPartCommand(of));
        return { ETag, ChecksumSHA256, PartNumber };
      }),
    );
    await complete(Key, UploadId ?? '', Parts);

    // The SDK compares the body with the checksum of the part.
    const part = await s3.send(new GetObjectCommand({ Bucket, Key, PartNumber: 2, ChecksumMode: 'ENABLED' }));
    expect(await part.Body?.transformToString()).toBe('last');
    expect(part).toMatchObject({ PartsCount: 2, ChecksumSHA256: Parts[1]?.ChecksumSHA256, ContentLength: 4 });
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key, PartNumber: 1 }));
    expect(head).toMatchObject({ PartsCount: 2, ContentLength: 5 * MiB });

    const ObjectAttributes = ['Checksum', 'ObjectParts'] as const;
    const asked = { Bucket, Key, ObjectAttributes: [...ObjectAttributes], MaxParts: 1, PartNumberMarker: '1' };
    const { Checksum, ObjectParts } = await s3.send(new GetObjectAttributesCommand(asked));
    expect(Checksum).toMatchObject({
      ChecksumType: 'COMPOSITE',
      ChecksumSHA256: expect.stringMatching(/^[^-]*$/) as string,
    });
    expect(ObjectParts).toEqual({
      TotalPartsCount: 2,
      PartNumberMarker: '1',
      NextPartNumberMarker: '2',
      MaxParts: 1,
      IsTruncated: false,
      Parts: [{ PartNumber: 2, Size: 4, ChecksumSHA256: Parts[1]?.ChecksumSHA256 }],
    });
  });
});

/** The MiB of a large upload. */
const size = inFullForm(100, 36);

describe('multipart upload', () => {
  it(`of ${size} MiB by lib-storage comes back whole`, async () => {
    const body = Buffer.alloc(size * MiB);
    for (let at = 0; at < body.length; at += 4_096) body.writeUInt32LE(at, at);
    await new Upload({ client: s3, params: { Bucket, Key: 'large', Body: body }, partSize: 16 * MiB }).done();
    const digest = createHash('md5');
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'large' }));
    for await (const chunk of answer.Body as AsyncIterable<Buffer>) digest.update(chunk);
    expect(digest.digest('hex')).toBe(md5(body).digest('hex'));
    expect(answer.ETag).toMatch(new RegExp(`^"[0-9a-f]{32}-${Math.ceil(size / 16)}"$`));
    const Range = `bytes=${16 * MiB - 2}-${16 * MiB + 1}`;
    const middle = await s3.send(new GetObjectCommand({ Bucket, Key: 'large', Range }));
    expect(await middle.Body?.transformToByteArray()).toEqual(
      new Uint8Array(body.subarray(16 * MiB - 2, 16 * MiB + 2)),
    );
  });

  it('puts parts together in the order of their numbers, whatever order they came in', async () => {
    const Key = 'ordered';
    const id = await begin(Key);
    const last = await part(Key, id, 7, Buffer.from('end'));
    const first = await part(Key, id, 2, Buffer.alloc(5 * MiB, 'a'));
    const { ETag } = await complete(Key, id, [first, last]);
    const digests = Buffer.concat([md5(Buffer.alloc(5 * MiB, 'a')).digest(), md5(Buffer.from('end')).digest()]);
    expect(ETag).toBe(`"${md5(digests).digest('hex')}-2"`);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head.ContentLength).toBe(5 * MiB + 3);
  });

  it('keeps the last of parts with one number', async () => {
    const Key = 'twice';
    const id = await begin(Key);
    await part(Key, id, 1, Buffer.from('first'));
    const second = await part(Key, id, 1, Buffer.from('second'));
    await complete(Key, id, [second]);
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await answer.Body?.transformToString()).toBe('second');
  });

  it('lists its parts page by page', async () => {
    const Key = 'parts';
    const UploadId = await begin(Key);
    for (const n of [1, 5, 9]) await part(Key, UploadId, n, Buffer.from('x'));
    const page = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 2 }));
    expect([page.Parts?.map(({ PartNumber }) => PartNumber), page.IsTruncated]).toEqual([[1, 5], true]);
    const PartNumberMarker = page.NextPartNumberMarker;
    const rest = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId, PartNumberMarker }));
    expect([rest.Parts?.map(({ PartNumber }) => PartNumber), rest.IsTruncated]).toEqual([[9], false]);
  });

  it('copies parts from another object', async () => {
    await s3.send(new PutObjectCommand({ Bucket, Key: 'source', Body: '0123456789' }));
    const Key = 'assembled';
    const UploadId = await begin(Key);
    const { CopyPartResult } = await s3.send(
      new UploadPartCopyCommand({
        Bucket,
        Key,
        UploadId,
        PartNumber: 1,
        CopySource: `${Bucket}/source`,
        CopySourceRange: 'bytes=2-4',
      }),
    );
    await complete(Key, UploadId, [{ PartNumber: 1, ETag: CopyPartResult?.ETag }]);
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await answer.Body?.transformToString()).toBe('234');
  });

  it('that is aborted leaves nothing', async () => {
    const Key = 'aborted';
    const UploadId = await begin(Key);
    const one = await part(Key, UploadId, 1, Buffer.from('x'));
    await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    expect((await refusal(complete(Key, UploadId, [one]))).code).toBe('NoSuchUpload');
    expect((await refusal(part(Key, UploadId, 2, Buffer.from('y')))).code).toBe('NoSuchUpload');
    expect((await refusal(s3.send(new HeadObjectCommand({ Bucket, Key })))).status).toBe(404);
  });
});

describe('completion is refused', () => {
  it.each([
    ['with a part that was never sent', [{ PartNumber: 3, ETag: '"0cc175b9c0f1b6a831c399e269772661"' }], 'InvalidPart'],
    ['with another ETag', [{ PartNumber: 1, ETag: '"0cc175b9c0f1b6a831c399e269772661"' }], 'InvalidPart'],
    ['without parts', [], 'MalformedXML'],
  ])('%s', async (what, Parts, code) => {
    const Key = `refused ${what}`;
    const id = await begin(Key);
    await part(Key, id, 1, Buffer.from('x'));
    expect((await refusal(complete(Key, id, Parts))).code).toBe(code);
  });

  it('with parts out of order', async () => {
    const Key = 'disordered';
    const id = await begin(Key);
    const [one, two] = [await part(Key, id, 1, Buffer.alloc(5 * MiB)), await part(Key, id, 2, Buffer.from('x'))];
    expect((await refusal(complete(Key, id, [two, one]))).code).toBe('InvalidPartOrder');
    await complete(Key, id, [one, two]);
  });

  it('with a part, other than the last, below 5 MiB', async () => {
    const Key = 'small-parts';
    const id = await begin(Key);
    const [one, two] = [await part(Key, id, 1, Buffer.from('x')), await part(Key, id, 2, Buffer.from('y'))];
    expect((await refusal(complete(Key, id, [one, two]))).code).toBe('EntityTooSmall');
  });

  it('where the object must not exist and does', async () => {
    const Key = 'exists';
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    const id = await begin(Key);
    const one = await part(Key, id, 1, Buffer.from('y'));
    expect((await refusal(complete(Key, id, [one], { IfNoneMatch: '*' }))).code).toBe('PreconditionFailed');
  });

  it.each([0, 10_001])('part number %i', async (PartNumber) => {
    const id = await begin('numbered');
    expect((await refusal(part('numbered', id, PartNumber, Buffer.from('x')))).code).toBe('InvalidArgument');
  });
});
