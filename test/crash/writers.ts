import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { contentOf, type ExpectedObjects } from './expected-objects.ts';
import type { SeededRandom } from './seeded-random.ts';

export const BUCKET = 'crash';

const KEYS_OF_EACH = 4;
/** The least S3 takes for a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** One client that writes, overwrites, deletes and uploads in parts under keys of its own, until the server is gone. */
export async function writeUntilGone(
  s3: S3Client,
  name: string,
  random: SeededRandom,
  expected: ExpectedObjects,
): Promise<void> {
  for (;;) {
    const key = `${name}/${random.between(1, KEYS_OF_EACH)}`;
    try {
      await change(s3, key, random, expected);
    } catch (error) {
      // An answer says that nothing was changed; no answer says nothing, and the server is gone.
      if (!(error instanceof S3ServiceException) || error.$response === undefined) return;
      expected.refuse(key);
      const status = error.$metadata.httpStatusCode;
      if (status !== 412 && status !== 503) throw error;
    }
  }
}

async function change(s3: S3Client, key: string, random: SeededRandom, expected: ExpectedObjects): Promise<void> {
  const choice = random.between(1, 100);
  if (choice <= 45) return put(s3, key, random.bytes(random.between(0, 8_000)), expected);
  if (choice <= 55) return put(s3, key, random.bytes(random.between(100_000, 131_072)), expected);
  if (choice <= 75) return put(s3, key, random.bytes(random.between(131_073, 600_000)), expected);
  if (choice <= 85) return put(s3, key, random.bytes(random.between(1, 300_000)), expected, { IfNoneMatch: '*' });
  if (choice <= 96) return remove(s3, key, expected);
  return uploadInParts(s3, key, random, expected);
}

async function put(
  s3: S3Client,
  key: string,
  bytes: Buffer,
  expected: ExpectedObjects,
  condition: { IfNoneMatch?: string } = {},
): Promise<void> {
  expected.begin(key, contentOf(bytes));
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: bytes, ...condition }));
  expected.acknowledge(key);
}

async function remove(s3: S3Client, key: string, expected: ExpectedObjects): Promise<void> {
  expected.begin(key, undefined);
  await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }));
  expected.acknowledge(key);
}

async function uploadInParts(
  s3: S3Client,
  key: string,
  random: SeededRandom,
  expected: ExpectedObjects,
): Promise<void> {
  const parts = [Buffer.alloc(PART_BYTES, random.bytes(1_021)), random.bytes(random.between(1, 200_000))];
  const target = { Bucket: BUCKET, Key: key };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target));
  const uploaded = await Promise.all(
    parts.map(async (Body, index) => {
      const PartNumber = index + 1;
      const { ETag } = await s3.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body }));
      return { PartNumber, ETag };
    }),
  );
  expected.begin(key, contentOf(Buffer.concat(parts)));
  await s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: uploaded } }));
  expected.acknowledge(key);
}
