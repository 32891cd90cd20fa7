import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Place } from './faults.ts';

/** Writes an object whose bytes are where the place says. */
export async function store(
  client: S3Client,
  { Bucket, Key, Body }: { readonly Bucket: string; readonly Key: string; readonly Body: Buffer },
  place: Place,
): Promise<void> {
  const sealed = place.startsWith('encrypted') ? { ServerSideEncryption: 'AES256' as const } : {};
  if (!place.endsWith('part')) {
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ...sealed }));
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...sealed }));
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}
