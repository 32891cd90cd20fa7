import { cipherSize } from '../../encryption/package-format.ts';
import type { BlobId, WriteOptions } from '../../store/blob-store.ts';
import type { ObjectContext } from '../context/context.ts';
import type { IncomingBody } from './incoming-body.ts';
import { newBlobId } from '../records/blob-claims.ts';

/** Bodies up to this many bytes share files. Larger ones are as fast in files of their own, whose space is free at once. */
export const PACKED_LIMIT = 4 * 1024 * 1024;

/** Stores the bytes of a body, ciphertext if it is encrypted. They are durable when this resolves. */
export async function storeBlob(
  { blobs, clock, random }: Pick<ObjectContext, 'blobs' | 'clock' | 'random'>,
  bytes: AsyncIterable<Buffer>,
  { bucket, size, objectKey, packed }: Pick<IncomingBody, 'bucket' | 'size' | 'objectKey' | 'packed'>,
  options: WriteOptions = {},
): Promise<BlobId> {
  const { segments } = blobs;
  if (packed === true && size <= PACKED_LIMIT && segments !== undefined) {
    const length = objectKey === undefined ? size : cipherSize(size);
    return (await segments.write(bytes, { length, ...options })).id;
  }
  const blob = newBlobId(bucket, clock(), random);
  await blobs.write(blob, bytes, options);
  return blob;
}
