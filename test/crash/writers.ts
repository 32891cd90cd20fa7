import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { SeededRandom } from './seeded-random.ts';
import { contentOf, type Witness } from './witness.ts';

export const BUCKET = 'crash';

const KEYS_OF_EACH = 4;
/** The least S3 takes for a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** One client that writes, overwrites, deletes and uploads in parts under its own keys, until the server is gone or it is told. */
export async function writeUntilGone(
  s3: S3Client,
  name: string,
  random: SeededRandom,
  witness: Witness,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const key = `${name}/${random.between(1, KEYS_OF_EACH)}`;
    try {
      await change(s3, key, random, witness);
    } catch (error) {
      // An answer says that nothing was changed; no answer says nothing, and the server is gone.
      if (!(error instanceof S3ServiceException) || error.$response === undefined) return;
      witness.refuse(key);
      const status = error.$metadata.httpStatusCode;
      if (status !== 412 && status !== 503) throw error;
    }
  }
}

async function change(s3: S3Client, key: string, random: SeededRandom, witness: Witness): Promise<void> {
  const choice = random.between(1, 100);
  if (choice <= 45) return put(s3, key, random.bytes(random.between(0, 8_000)), witness);
  if (choice <= 55) return put(s3, key, random.bytes(random.between(100_000, 131_072)), witness);
  if (choice <= 75) return put(s3, key, random.bytes(random.between(131_073, 600_000)), witness);
  if (choice <= 85) return put(s3, key, random.bytes(random.between(1, 300_000)), witness, { IfNoneMatch: '*' });
  if (choice <= 96) return remove(s3, key, witness);
  return uploadInParts(s3, key, random, witness);
}

async function put(
  s3: S3Client,
  key: string,
  bytes: Buffer,
  witness: Witness,
  condition: { IfNoneMatch?: string } = {},
): Promise<void> {
  witness.begin(key, contentOf(bytes));
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: bytes, ...condition }));
  witness.acknowledge(key);
}

async function remove(s3: S3Client, key: string, witness: Witness): Promise<void> {
  witness.begin(key, undefined);
  await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }));
  witness.acknowledge(key);
}

async function uploadInParts(s3: S3Client, key: string, random: SeededRandom, witness: Witness): Promise<void> {
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
  witness.begin(key, contentOf(Buffer.concat(parts)));
  await s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: uploaded } }));
  witness.acknowledge(key);
}
