import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectEncryption, ObjectLayer, RequestedEncryption } from '../objects/object-layer.ts';
import type { Place } from './object-records.ts';

/**
 * Encrypts the body of an object anew, under a new key of its own, where it is still the one that was looked at. It is a copy of the
 * object onto itself: its time is new, its ETag too where that is not the MD5, and what came in parts is one body. False where
 * something newer took its place, or nothing did.
 */
export async function rewriteObject(
  objects: Pick<ObjectLayer, 'copyObject' | 'headObject'>,
  { bucket, key }: Place,
  to: string,
): Promise<boolean> {
  try {
    const { encryption, etag } = await objects.headObject(bucket, key);
    const wanted = encryption && under(encryption, to);
    if (wanted === undefined) return false;
    const conditions = { ifMatch: [etag] };
    await objects.copyObject({ source: { bucket, key, conditions }, bucket, key, encryption: wanted, conditions });
    return true;
  } catch (error) {
    if (error instanceof S3Error && (error.code === 'NoSuchKey' || error.code === 'PreconditionFailed')) return false;
    throw error;
  }
}

function under(encryption: ObjectEncryption, keyName: string): RequestedEncryption | undefined {
  return encryption.scheme === 'SSE-C' ? undefined : { ...encryption, keyName };
}
